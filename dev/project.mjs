// Reads the project that is to run: wrangler.jsonc decides everything.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { writeWhole } from "./bytecode.mjs";
import { StartFailure } from "./log.mjs";

/**
 * What `python_workers` implies with a date of 2026-09-08 or later. The flag itself would make
 * workerd fetch its own bundle of Pyodide, so the host is given these instead of it.
 */
const IMPLIED_BY_PYTHON_WORKERS = [
  "python_workers_20250116",
  "python_workers_314",
  "python_workflows",
  "python_workflows_implicit_dependencies",
  "python_check_rng_state",
  "python_dedicated_snapshot",
];

/**
 * Read wrangler.jsonc in `root` and return what the runtime needs of it. A project without vendored
 * packages of its own gets those of `fallback`.
 */
export async function readProject(root, fallback, cacheFolder) {
  const { config, workerOptions } = await readWranglerConfig(root, cacheFolder);
  const { modulesRules, rootPath, compatibilityFlags, ...options } = workerOptions;
  const main = path.parse(config.main);
  return {
    root,
    name: config.name,
    sourceRoot: main.dir,
    mainName: main.name,
    pythonModules: vendoredPackages([root, fallback]),
    exports: exportedNames(config.main),
    crons: config.triggers?.crons ?? [],
    vars: config.vars ?? {},
    databases: config.d1_databases.map((each) => ({
      binding: each.binding,
      migrations: path.resolve(root, each.migrations_dir ?? "migrations"),
      table: each.migrations_table ?? "d1_migrations",
    })),
    options: {
      ...options,
      compatibilityFlags: compatibilityFlags.flatMap((flag) =>
        flag === "python_workers" ? IMPLIED_BY_PYTHON_WORKERS : flag,
      ),
    },
  };
}

/**
 * Have wrangler read its configuration. The answer is kept, since loading wrangler takes longer
 * than starting everything else, and it is used while what wrangler read stays the same.
 */
async function readWranglerConfig(root, cacheFolder) {
  const file = path.join(root, "wrangler.jsonc");
  if (!fs.existsSync(file)) throw new StartFailure(`no wrangler.jsonc in ${root}`);
  const kept = path.join(cacheFolder, `config-${digest(file).slice(0, 16)}.json`);
  if (fs.existsSync(kept)) {
    const { stamp, answer } = JSON.parse(fs.readFileSync(kept, "utf8"));
    if (stamp === stampOf(file, answer)) return answer;
  }
  const wrangler = await import("wrangler");
  const config = wrangler.unstable_readConfig({ config: file });
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions({ ...config, vars: {} });
  const answer = { config, workerOptions };
  writeWhole(kept, JSON.stringify({ stamp: stampOf(file, answer), answer }));
  return answer;
}

function stampOf(file, { workerOptions }) {
  const assets = workerOptions.assets?.directory;
  const rules = assets ? ["_headers", "_redirects"].map((name) => path.join(assets, name)) : [];
  const versions = new URL("../package-lock.json", import.meta.url);
  const read = [file, versions, ...rules].filter((each) => fs.existsSync(each));
  return digest(...read.map((each) => fs.readFileSync(each)));
}

function digest(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}

function vendoredPackages(roots) {
  const folder = roots.map((root) => path.join(root, "python_modules")).find(fs.existsSync);
  if (folder === undefined) throw new StartFailure("no python_modules/: make vendor fills it");
  return folder;
}

/** Return the names that the entry module exports: JavaScript's exports must be known beforehand. */
function exportedNames(entry) {
  const source = fs.readFileSync(entry, "utf8");
  const list = /^__all__\s*=\s*[[(]([^\])]*)[\])]/m.exec(source);
  if (list === null) throw new StartFailure(`${path.basename(entry)} has no __all__ = [...]`);
  const names = [...list[1].matchAll(/["'](\w+)["']/g)].map((match) => match[1]);
  if (!names.includes("Default")) throw new StartFailure("__all__ names no Default entrypoint");
  return names;
}
