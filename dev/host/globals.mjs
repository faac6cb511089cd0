// What must stand before Pyodide's own modules are evaluated: import this file first.
//
// The main module of a Python Worker is imported outside a request. There workerd allows no timer,
// no fetch and no randomness, and its clock stands still near 1970. Pyodide asks for all of these
// while it boots, so each is answered here until `openForRequests` is called.
import { env } from "cloudflare:workers";

delete globalThis.process; // Pyodide would take itself to be in Node.
globalThis.process = undefined;
globalThis.MessageChannel = undefined; // Its events need a request; timers work in one.
globalThis.location = new URL("http://pyodide.invalid/");

// workerd compiles WebAssembly only through its unsafe-eval binding, and at once.
const { Module: NativeModule, Instance } = WebAssembly;
const compile = (source) =>
  source instanceof NativeModule
    ? source
    : env.UNSAFE_EVAL.newWasmModule(source instanceof Uint8Array ? source : new Uint8Array(source));
WebAssembly.Module = new Proxy(NativeModule, { construct: (_, [source]) => compile(source) });
WebAssembly.compile = async (source) => compile(source);
WebAssembly.instantiate = async (source, imports) => {
  const module = compile(source);
  const instance = new Instance(module, imports);
  return source instanceof NativeModule ? instance : { module, instance };
};
WebAssembly.instantiateStreaming = async (response, imports) =>
  WebAssembly.instantiate(await (await response).arrayBuffer(), imports);

const bootFiles = new Map();
const nativeFetch = globalThis.fetch;
const nativeSetTimeout = globalThis.setTimeout;
const nativeGetRandomValues = crypto.getRandomValues.bind(crypto);
const EIO = 29;

/** How many calls for randomness are answered, with a constant, before the first request. */
export const entropy = { allowed: 0, open: false };

// Python that imports `fetch` from `js` while the main module is imported keeps this one for good.
globalThis.fetch = async (input, init) => {
  if (entropy.open) return nativeFetch(input, init);
  const contents = bootFiles.get(String(input));
  if (contents === undefined) throw new Error(`no network before the first request: ${input}`);
  return { ok: true, arrayBuffer: async () => contents };
};
globalThis.setTimeout = (callback, delay, ...args) =>
  delay > 2 ? nativeSetTimeout(callback, delay, ...args) : (queueMicrotask(callback), 0);
crypto.getRandomValues = (array) => {
  if (entropy.open) return nativeGetRandomValues(array);
  if (entropy.allowed > 0) {
    entropy.allowed -= 1;
    return array.fill(43);
  }
  // Emscripten hands an ErrnoError on as the C function's error code, and Python as an OSError.
  throw Object.assign(new Error("no randomness"), { name: "ErrnoError", errno: EIO });
};

/** Give Pyodide a file that it fetches from `location` while it boots. */
export function serveBootFile(name, contents) {
  bootFiles.set(new URL(name, globalThis.location).href, contents);
}

/** Put the real functions back: from now on everything runs in a request. */
export function openForRequests() {
  if (entropy.open) return;
  entropy.open = true;
  globalThis.fetch = nativeFetch;
  globalThis.setTimeout = nativeSetTimeout;
}

// Python reads the time through JavaScript's Date, so a Date with an offset moves Python's clock.
const NativeDate = Date;
let offset = 0;
const now = () => NativeDate.now() + offset;
globalThis.Date = new Proxy(NativeDate, {
  apply: () => new NativeDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length ? args : [now()], newTarget),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

export const clock = {
  now,
  /** Set the clock to a time in epoch milliseconds, from which it runs on; null: the real time. */
  set(time) {
    offset = time === null ? 0 : time - NativeDate.now();
  },
};
