#!/usr/bin/env node
// The local runtime: runs the project in real workerd on this machine. See docs/local-runtime.md.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startDemos } from "./demos.mjs";
import { Log, StartFailure } from "./log.mjs";
import { applyMigrations } from "./migrations.mjs";
import { readProject } from "./project.mjs";
import { startServer } from "./server.mjs";
import { startTicking } from "./tick.mjs";
import { readVars } from "./vars.mjs";
import { killChildrenWithUs } from "./watchdog.mjs";

const HERE = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CACHE = path.join(HERE, ".cache");
const STOP_MS = 5000;
/** What ends the children, in turn, and waits for it. */
const endings = [];
let stopping = false;

const USAGE = `usage: make run ARGS="[options]"  (or: npm run dev -- [options])
  --port N                port to listen on (default 8787; 0: a free one)
  --state DIR             where data lives (default .local/state)
  --vars FILE             variables, as in .dev.vars (default .dev.vars, if it is there)
  --no-tick               do not fire the crons by the clock
  --no-demo               no demo model and no demo GitHub
  --root DIR              the project to run (default: this one)
  --until-stdin-closes    stop when standard input closes`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      state: { type: "string" },
      vars: { type: "string" },
      root: { type: "string", default: HERE },
      "no-tick": { type: "boolean", default: false },
      "no-demo": { type: "boolean", default: false },
      "until-stdin-closes": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const port = Number(values.port);
  if (!(Number.isInteger(port) && port >= 0 && port <= 65535)) {
    throw new StartFailure(`--port ${values.port}: no such port`);
  }
  const root = path.resolve(values.root);
  const state = path.resolve(values.state ?? path.join(root, ".local", "state"));
  return { ...values, port, root, state };
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(USAGE);
  const project = await readProject(options.root, HERE, CACHE);
  stopOnSignals();
  if (options["until-stdin-closes"]) process.stdin.on("close", stop).resume();
  const { vars, adminToken } = readVars(project, options);
  if (!options["no-demo"]) {
    for (const line of await startDemos(vars)) console.log(line);
  }
  const log = new Log();
  const { miniflare, url } = await startServer({
    project,
    vars,
    port: options.port,
    state: options.state,
    cacheFolder: CACHE,
    log,
  }).catch((error) => log.failStart(error));
  log.live();
  endings.push(() => miniflare.dispose(), killChildrenWithUs());
  stopOnSignals();
  for (const database of project.databases) {
    const binding = await miniflare.getD1Database(database.binding, project.name);
    for (const name of await applyMigrations(binding, database)) {
      console.log(`migrated ${database.binding}: ${name}`);
    }
  }
  if (!options["no-tick"]) startTicking(url, project.crons);
  if (adminToken !== null) console.log(`admin token ${adminToken}`);
  console.log(`ready ${url}`);
}

/**
 * End with status 0 when told to stop, after the `endings`: each ends a child and waits for it.
 * Should one take too long, this process exits all the same, and the child is killed with it.
 */
async function stop() {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(0), STOP_MS);
  for (const end of endings) await end().catch((error) => console.error(error));
  process.exit(0);
}

/** Stop on these signals, whoever listened before: miniflare's own listeners exit at once. */
function stopOnSignals() {
  for (const signal of ["SIGTERM", "SIGINT"]) process.removeAllListeners(signal).on(signal, stop);
}

main().catch((error) => {
  const misused = error.code?.startsWith("ERR_PARSE_ARGS");
  // A coded error is about the port, a file or the options: its message says it all.
  const plain = error instanceof StartFailure || error.code !== undefined;
  console.error(plain ? error.message : error);
  if (misused) console.error(USAGE);
  process.exit(1);
});
