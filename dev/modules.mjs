// Makes the modules of the two Workers that run in workerd: the host, which carries Pyodide and the
// project's files, and the front, which serves the runtime's controls.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BytecodeCache, writeWhole } from "./bytecode.mjs";
import { readZip, storeZip } from "./zip.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PYODIDE = path.dirname(fileURLToPath(import.meta.resolve("pyodide")));
const METADATA = "/session/metadata";
const HOST = "/session/host";

/** What wrangler uploads from below the main module's folder, by its default rules. */
const UPLOADED = /\.(py|txt|html|sql|bin)$/;

/** Return miniflare's module lists for a project: `{host, front}`. */
export async function buildModules(project, cacheFolder) {
  const cache = new BytecodeCache(cacheFolder);
  const { image, files } = await buildImage(project, cache);
  const settings = { main: project.mainName, files };
  const pyodide = (name) => fs.readFileSync(path.join(PYODIDE, name));
  const own = (name) => fs.readFileSync(path.join(HERE, "host", name));
  const workflowsJs = path.join(project.pythonModules, "workers", "workflows.js");
  return {
    front: [
      esModule("front.mjs", own("front.mjs")),
      settingsModule("settings.mjs", { crons: project.crons }),
    ],
    host: [
      esModule("host/main.mjs", mainModule(project.exports)),
      esModule("host/host.mjs", own("host.mjs")),
      esModule("host/globals.mjs", own("globals.mjs")),
      esModule("host/pyodide.mjs", pyodide("pyodide.mjs")),
      esModule("host/pyodide.asm.mjs", pyodide("pyodide.asm.mjs")),
      esModule("python_modules/workers/workflows.js", fs.readFileSync(workflowsJs)),
      settingsModule("host/settings.mjs", settings),
      { type: "CompiledWasm", path: "host/pyodide.asm.wasm", contents: pyodide("pyodide.asm.wasm") },
      data("host/python_stdlib.zip.bin", await standardLibrary(cache)),
      data("host/image.bin", image),
    ],
  };
}

const esModule = (name, contents) => ({ type: "ESModule", path: name, contents: String(contents) });
const data = (name, contents) => ({ type: "Data", path: name, contents });
const settingsModule = (name, value) =>
  esModule(name, `export default ${JSON.stringify(value)};`);

/** Return the host's main module. Events go to the default class by a name, past the assets. */
function mainModule(names) {
  const classes = names.map((name) => `const ${name} = entrypoint("${name}");`);
  const others = names.filter((name) => name !== "Default");
  const exported = ["Default as default", "Default as LocalEvents", "LocalControls", ...others];
  return [
    'import { LocalControls, entrypoint } from "./host.mjs";',
    ...classes,
    `export { ${exported.join(", ")} };`,
  ].join("\n");
}

/** Lay the project's files, and the bytecode of the Python ones, into one block of bytes. */
async function buildImage(project, cache) {
  const parts = [];
  const files = [];
  let size = 0;
  const add = (file, contents) => {
    files.push([file, size, size + contents.length]);
    parts.push(contents);
    size += contents.length;
  };
  const trees = [
    [`${METADATA}/python_modules`, project.pythonModules, () => true],
    [METADATA, project.sourceRoot, (name) => UPLOADED.test(name)],
    [HOST, path.join(HERE, "host", "python"), (name) => name.endsWith(".py")],
  ];
  for (const [mount, folder, wanted] of trees) {
    for (const name of listFiles(folder).filter(wanted)) {
      const contents = fs.readFileSync(path.join(folder, name));
      const file = `${mount}/${name}`;
      add(file, contents);
      const bytecode = name.endsWith(".py") ? await cache.bytecode(file, contents) : null;
      if (bytecode !== null) add(bytecodePath(file), bytecode);
    }
  }
  return { image: Buffer.concat(parts), files };
}

function bytecodePath(file) {
  const { dir, name } = path.posix.parse(file);
  return `${dir}/__pycache__/${name}.cpython-314.pyc`;
}

function listFiles(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("__pycache__"))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** Return the standard library with its modules compiled, made once for each version of Pyodide. */
async function standardLibrary(cache) {
  const archive = cache.standardLibrary;
  if (fs.existsSync(archive)) return fs.readFileSync(archive);
  const entries = [];
  const original = fs.readFileSync(path.join(PYODIDE, "python_stdlib.zip"));
  for (const [name, contents] of readZip(original)) {
    const bytecode = name.endsWith(".py")
      ? await cache.bytecode(`/lib/python314.zip/${name}`, contents)
      : null;
    entries.push(bytecode === null ? [name, contents] : [`${name}c`, bytecode]);
  }
  const made = storeZip(entries);
  writeWhole(archive, made);
  return made;
}
