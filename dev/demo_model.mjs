// A demo model on loopback: it speaks the chat-completions protocol, tool calls included, and
// follows a few rules instead of thinking. Every answer of it says so. Node's standard library only.
//
//   node dev/demo_model.mjs [--port 0] [--token TOKEN] [--until-stdin-closes]
//
// prints one line {"url", "token", "model"} when it answers; `url` is what MODEL_BASE_URL takes.

import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { answer } from "./demo_model/answer.mjs";

export const MODEL = "demo-model";
const MAX_BODY = 8 * 1024 * 1024;

/**
 * Start it on 127.0.0.1.
 *
 * @param {{port?: number, token?: string}} options `port` 0 is any free one.
 * @returns {Promise<{url: string, token: string, model: string, close: () => Promise<void>}>}
 */
export async function startDemoModel({ port = 0, token } = {}) {
  const accepted = token || `demo_${randomBytes(12).toString("hex")}`;
  const server = createServer((incoming, outgoing) => {
    serve(accepted, incoming, outgoing).catch((fault) => {
      console.error(fault);
      if (!outgoing.headersSent) send(outgoing, 500, failure("the demo model broke"));
    });
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    token: accepted,
    model: MODEL,
    close() {
      const closed = new Promise((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function serve(token, incoming, outgoing) {
  const text = await bodyOf(incoming);
  if (text === null) return send(outgoing, 413, failure("the request is too large"));
  if (incoming.headers.authorization !== `Bearer ${token}`) return send(outgoing, 401, failure("wrong key"));
  switch (`${incoming.method} ${incoming.url}`) {
    case "GET /v1/models":
      return send(outgoing, 200, { object: "list", data: [{ id: MODEL, object: "model", owned_by: "demo" }] });
    case "POST /v1/chat/completions": {
      const asked = readJson(text);
      if (!Array.isArray(asked?.messages)) return send(outgoing, 400, failure("messages must be a list"));
      return send(outgoing, 200, completion(asked, text));
    }
    default:
      return send(outgoing, 404, failure("no such route"));
  }
}

function completion(asked, text) {
  const message = answer(asked);
  const tokens = (characters) => Math.ceil(characters / 4);
  const usage = { prompt_tokens: tokens(text.length), completion_tokens: tokens(JSON.stringify(message).length) };
  return {
    id: `chatcmpl-${randomBytes(8).toString("hex")}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: MODEL,
    choices: [{ index: 0, message, finish_reason: message.tool_calls ? "tool_calls" : "stop" }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}

const failure = (message) => ({ error: { message: `demo model: ${message}`, type: "demo_error" } });

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function bodyOf(incoming) {
  const chunks = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk);
  }
  return length <= MAX_BODY ? Buffer.concat(chunks).toString("utf8") : null;
}

function send(outgoing, status, body) {
  outgoing.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  outgoing.end(JSON.stringify(body));
}

async function main() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      token: { type: "string" },
      "until-stdin-closes": { type: "boolean", default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port ${values.port}: a whole number from 0 to 65535`);
  }
  const { url, token, model, close } = await startDemoModel({ port, token: values.token });
  const stop = () => close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  if (values["until-stdin-closes"]) process.stdin.once("close", stop).resume();
  console.log(JSON.stringify({ url, token, model }));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().catch((fault) => {
    console.error(fault.message);
    process.exit(2);
  });
}
