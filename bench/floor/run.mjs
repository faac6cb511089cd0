// Runs the floor in workerd through miniflare, on a state of its own; prints `ready URL`. Ends with
// its standard input.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare, convertV4MiniflareOptions } from "miniflare";
import { applyMigrations } from "../../dev/migrations.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(path.dirname(HERE));
const state = fs.mkdtempSync(path.join(os.tmpdir(), "bench-floor-"));
const module = (name) => ({
  type: "ESModule",
  path: `/${name}`,
  contents: fs.readFileSync(path.join(HERE, name), "utf8"),
});
const object = (className) => ({ className, useSQLite: true });

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    resourcePersistencePath: state,
    cf: false,
    telemetry: { enabled: false },
    workers: [
      {
        name: "floor",
        compatibilityDate: "2026-10-01",
        modulesRoot: "/",
        modules: [module("worker.mjs"), module("cron.mjs")],
        durableObjects: { CONFIG: object("ConfigDO"), SCHEDULES: object("ScheduleDO") },
        d1Databases: { DB: "floor" },
        workflows: { RUNS: { name: "floor-runs", className: "RunFlow" } },
      },
    ],
  }),
);
process.on("exit", () => fs.rmSync(state, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit(0));
process.stdin.on("close", () => process.exit(0)).resume();
const { origin } = await miniflare.ready;
const migrations = path.join(ROOT, "migrations");
await applyMigrations(await miniflare.getD1Database("DB", "floor"), { migrations, table: "d1_migrations" });
console.log(`ready ${origin}`);
