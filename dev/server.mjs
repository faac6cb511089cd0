// Runs the project in workerd, through miniflare.
import path from "node:path";
import { Miniflare, convertV4MiniflareOptions } from "miniflare";
import { buildModules } from "./modules.mjs";

/** Start workerd with the project; return the running miniflare and its URL. */
export async function startServer({ project, vars, port, state, cacheFolder, log }) {
  const modules = await buildModules(project, cacheFolder);
  const host = {
    ...project.options,
    name: project.name,
    modulesRoot: "/",
    modules: absolute(modules.host),
    bindings: vars,
    unsafeEvalBinding: "UNSAFE_EVAL",
  };
  const front = {
    name: "local-front",
    compatibilityDate: project.options.compatibilityDate,
    compatibilityFlags: ["service_binding_extra_handlers"],
    modulesRoot: "/",
    modules: absolute(modules.front),
    serviceBindings: {
      WORKER: project.name,
      EVENTS: { name: project.name, entrypoint: "LocalEvents" },
      CONTROLS: { name: project.name, entrypoint: "LocalControls" },
    },
  };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port,
      resourcePersistencePath: path.join(state, "v3"), // where `wrangler --persist-to` looks
      handleStructuredLogs: ({ message }) => log.write(message),
      cf: false, // By default miniflare asks the internet where this machine is.
      logRequests: false,
      telemetry: { enabled: false },
      workers: [front, host],
    }),
  );
  const url = await miniflare.ready;
  return { miniflare, url: url.origin };
}

const absolute = (modules) => modules.map((each) => ({ ...each, path: `/${each.path}` }));
