// A demo GitHub on loopback: the part of GitHub's REST API that the bot uses, over invented
// repositories (acme/api, acme/web, acme/quiet, acme/big). Node's standard library only.
//
//   node dev/demo_github.mjs [--port 0] [--state FILE] [--token TOKEN] [--until-stdin-closes]
//
// prints one line {"url", "token"} when it answers. Tests control it under /__demo/:
//   POST /__demo/fail      a failure to come (dev/demo_github/controls.mjs says its fields)
//   GET  /__demo/requests  what was asked, oldest first
//   POST /__demo/advisory  {repo, summary, package?, severity?}: one more open advisory
//   POST /__demo/reset     the seed again, no failures, no log

import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { error, json } from "./demo_github/answer.mjs";
import { Controls } from "./demo_github/controls.mjs";
import { answer } from "./demo_github/routes.mjs";
import { addAdvisory, seed } from "./demo_github/seed.mjs";
import { load, save } from "./demo_github/state.mjs";

const MAX_BODY = 1024 * 1024;
const HOURLY = 5000;

/**
 * Start it on 127.0.0.1.
 *
 * @param {{port?: number, state?: string, token?: string}} options `port` 0 is any free one;
 *   `state` a file that keeps issues, pulls and branches; `token` the one that is accepted.
 * @returns {Promise<{url: string, token: string, close: () => Promise<void>}>}
 */
export async function startDemoGithub({ port = 0, state, token } = {}) {
  const demo = {
    token: token || `demo_${randomBytes(12).toString("hex")}`,
    file: state,
    world: load(state),
    controls: new Controls(),
    stopping: new AbortController(),
  };
  const server = createServer((incoming, outgoing) => {
    serve(demo, incoming, outgoing).catch((fault) => {
      if (demo.stopping.signal.aborted || outgoing.destroyed) return;
      console.error(fault);
      send(outgoing, error(500, "Server Error"));
    });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    token: demo.token,
    close() {
      demo.stopping.abort();
      const closed = new Promise((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function serve(demo, incoming, outgoing) {
  const text = await bodyOf(incoming);
  if (text === null) return send(outgoing, error(413, "Payload Too Large"));
  const url = new URL(incoming.url, "http://demo");
  const request = {
    method: incoming.method,
    url: incoming.url,
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    text,
    // The links must lead back to the address by which the caller came.
    origin: `http://${incoming.headers.host}`,
    at: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  };
  if (request.path.startsWith("/__demo/")) return send(outgoing, control(demo, request));

  const entry = demo.controls.log(request);
  const failure = demo.controls.take(request.method, request.path);
  const delay = () => failure?.delay_ms && wait(failure.delay_ms, null, { signal: demo.stopping.signal });
  const failed = failure && (failure.drop || failure.status !== undefined);
  let reply;
  if (!failure?.after) await delay();
  if (!failed || failure.after) {
    reply = answer(request, demo.world, demo.token);
    if (request.method !== "GET" && reply.status < 300) save(demo.file, demo.world);
  }
  if (failure?.after) await delay();
  if (failure?.drop) return outgoing.destroy();
  if (failed) reply = json(failure.status, failure.body ?? null, failure.headers);
  entry.status = reply.status;
  return send(outgoing, { ...reply, headers: { ...limits(request), ...reply.headers } });
}

function control(demo, request) {
  const body = readJson(request.text);
  switch (`${request.method} ${request.path}`) {
    case "POST /__demo/fail": {
      const wrong = demo.controls.fail(body);
      return wrong ? error(422, wrong) : json(204, null);
    }
    case "POST /__demo/advisory": {
      const wrong = addAdvisory(demo.world, body);
      return wrong ? error(422, wrong) : json(204, null);
    }
    case "GET /__demo/requests":
      return json(200, demo.controls.requests);
    case "POST /__demo/reset":
      demo.controls.clear();
      demo.world = seed();
      save(demo.file, demo.world);
      return json(204, null);
    default:
      return error(404, "No such control");
  }
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The limit's headers, as on every answer of GitHub's; this one never runs out. */
const limits = (request) => ({
  "x-ratelimit-limit": String(HOURLY),
  "x-ratelimit-remaining": String(HOURLY - 1),
  "x-ratelimit-used": "1",
  "x-ratelimit-reset": String(Math.floor(Date.parse(request.at) / 1000) + 3600),
  "x-ratelimit-resource": "core",
});

async function bodyOf(incoming) {
  const chunks = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk);
  }
  return length <= MAX_BODY ? Buffer.concat(chunks).toString("utf8") : null;
}

/** A body that is a string goes out as it is, so that a test can send what is no JSON. */
function send(outgoing, { status, headers = {}, body }) {
  const text = body === null || typeof body === "string" ? body : JSON.stringify(body);
  const type = { "content-type": "application/json; charset=utf-8" };
  outgoing.writeHead(status, { ...(text === null ? {} : type), ...headers });
  outgoing.end(text ?? undefined);
}

async function main() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      state: { type: "string" },
      token: { type: "string" },
      "until-stdin-closes": { type: "boolean", default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port ${values.port}: a whole number from 0 to 65535`);
  }
  const { state, token } = values;
  const { url, token: accepted, close } = await startDemoGithub({ port, state, token });
  const stop = () => close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  if (values["until-stdin-closes"]) process.stdin.once("close", stop).resume();
  console.log(JSON.stringify({ url, token: accepted }));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().catch((fault) => {
    console.error(fault.message);
    process.exit(2);
  });
}
