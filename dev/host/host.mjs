// The JavaScript side of a Python Worker: boots Pyodide, imports the Worker's main module, and makes
// the classes that forward every call to the Python ones. It imitates workerd's own bootstrap, which
// downloads its bundle of Pyodide at start and so does not run without the open internet.
import { clock, entropy, openForRequests, serveBootFile } from "./globals.mjs";
import * as cloudflareSockets from "cloudflare:sockets";
import * as cloudflareWorkers from "cloudflare:workers";
import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import createPyodideModule from "./pyodide.asm.mjs";
import { loadPyodide, version } from "./pyodide.mjs";
import * as workflows from "../python_modules/workers/workflows.js";
import pyodideWasm from "./pyodide.asm.wasm";
import stdlib from "./python_stdlib.zip.bin";
import image from "./image.bin";
import settings from "./settings.mjs";

const HOST = "/session/host";
const METADATA = "/session/metadata";
const BASES = { DurableObject, WorkerEntrypoint, WorkflowEntrypoint };
const JS_MODULES = { "python_modules/workers/workflows.js": workflows };

async function bootPyodide() {
  serveBootFile("python_stdlib.zip", stdlib);
  serveBootFile("pyodide.asm.wasm", pyodideWasm);
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module: pyodideWasm,
    instance: await instantiate(pyodideWasm, imports),
  });
  return loadPyodide({
    indexURL: globalThis.location.href,
    createPyodideModule,
    lockFileContents: {
      info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten", python: "3.14", version },
      packages: {},
    },
    env: { HOME: "/session", PYTHONHASHSEED: "0" },
    stdout: (line) => console.log(line),
    stderr: (line) => console.warn(line),
    fsInit: mountImage,
  });
}

/** Lay the Worker's files out, without a copy, and take the right to write from all of them. */
async function mountImage(FS) {
  const folders = new Set();
  for (const [path, start, end] of settings.files) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) FS.mkdirTree(folder);
    folders.add(folder);
    FS.writeFile(path, new Uint8Array(image, start, end - start), { canOwn: true, mode: 0o444 });
  }
  for (const folder of folders) FS.chmod(folder, 0o555);
}

/** All that JavaScript code finds under a global name. */
function globalValues() {
  const values = new Set([globalThis]);
  for (let scope = globalThis; scope !== null; scope = Object.getPrototypeOf(scope)) {
    for (const name of Object.getOwnPropertyNames(scope)) values.add(globalThis[name]);
  }
  return values;
}

const patched = new WeakSet();

/** Let `ctx.waitUntil` take a Python awaitable, which Python frees when the call returns. */
function patchWaitUntil(ctx) {
  if (!(ctx?.constructor?.name === "ExecutionContext") || patched.has(ctx)) return;
  patched.add(ctx);
  const waitUntil = ctx.waitUntil.bind(ctx);
  ctx.waitUntil = (awaitable) => {
    const kept = awaitable?.copy?.() ?? awaitable;
    waitUntil(Promise.resolve(kept).finally(() => kept?.destroy?.()));
  };
}

async function importMain() {
  const python = await bootPyodide();
  python.registerJsModule("_local_entropy", entropy);
  python.registerJsModule("_cloudflare_compat_flags", {
    ...Cloudflare.compatibilityFlags,
    python_workers: true,
  });
  python.registerJsModule("_pyodide_entrypoint_helper", {
    cloudflareSocketsModule: cloudflareSockets,
    cloudflareWorkersModule: cloudflareWorkers,
    doAnImport: async (name) => JS_MODULES[name] ?? import(name),
    patchWaitUntil,
  });
  python.runPython(`import sys; sys.path.append("${HOST}")`);
  const bootstrap = python.pyimport("_local_bootstrap");
  const imported = bootstrap.import_main(METADATA, settings.main, globalValues());
  return { bootstrap, ...imported.toJs({ dict_converter: Object.fromEntries, depth: 1 }) };
}

const { bootstrap, main, classes } = await importMain();
const kinds = classes.toJs({ dict_converter: Object.fromEntries });

/** Call into Python from a request: a stack switch lets Python wait for JavaScript. */
async function call(callable, ...args) {
  return callable.callWithOptions({ promising: true }, ...args);
}

function enterRequest() {
  if (entropy.open) return;
  openForRequests();
  bootstrap.open_for_requests();
}

/** The kinds of call that Python gets raw; all others have their values converted. */
const RAW = { DurableObject: ["alarm"], WorkerEntrypoint: ["connect"], WorkflowEntrypoint: ["run"] };

/** Make the class that stands for the Python class `name` of the main module. */
export function entrypoint(name) {
  const kind = kinds[name];
  if (kind === undefined) {
    throw new TypeError(`${settings.main}.${name} is named in __all__ and is no entrypoint class`);
  }
  class Entrypoint extends BASES[kind.base] {
    constructor(ctx, env) {
      super(ctx, env);
      enterRequest();
      const instance = call(main[name], ctx, env);
      instance.catch(() => {}); // Each call below throws it again.
      return new Proxy(this, {
        get: (target, method, receiver) =>
          typeof method === "string"
            ? (...args) => forward(instance, kind.base, method, args)
            : Reflect.get(target, method, receiver),
      });
    }
  }
  // Only for workerd's check of what a class handles: the proxy answers every call.
  for (const method of kind.methods) Entrypoint.prototype[method] = () => {};
  return Entrypoint;
}

async function forward(promised, base, method, args) {
  const instance = await promised;
  if (typeof instance[method] !== "function") {
    throw new TypeError(`Method ${method} does not exist`);
  }
  if (RAW[base].includes(method)) {
    return instance[method]
      .callWithOptions({ relaxed: true, promising: true }, ...args)
      .catch(rethrowAbort);
  }
  if (method === "scheduled") return scheduled(instance, args[0]);
  return call(bootstrap.forward, method === "fetch", instance, method, ...args);
}

/**
 * Throw an error on to the Workflows engine. The engine knows its own errors, such as that of a
 * pause, by their message alone, which Python has wrapped into a traceback by now.
 */
function rethrowAbort(error) {
  const abort = /Error: (Aborting engine: .*)\n*$/.exec(error.message);
  throw abort === null ? error : new Error(abort[1]);
}

const failures = new Map();
const eventKey = (cron, time) => `${cron} ${Number(time)}`;

async function scheduled(instance, controller) {
  try {
    return await call(bootstrap.forward, false, instance, "scheduled", controller, null, null);
  } catch (error) {
    failures.set(eventKey(controller.cron, controller.scheduledTime), String(error.message ?? error));
    throw error;
  }
}

/** What the runtime's two controls need of this isolate. It is no part of the Worker. */
export class LocalControls extends WorkerEntrypoint {
  setClock(time) {
    clock.set(time);
    return clock.now();
  }

  now() {
    return clock.now();
  }

  /** Take what a failed `scheduled` raised, or null. */
  takeFailure(cron, time) {
    const key = eventKey(cron, time);
    const failure = failures.get(key) ?? null;
    failures.delete(key);
    return failure;
  }
}
