// Calls of the bot's API: one kind of error, conditional reads, a session that can end any time.
import { setBotTime } from "./time.js";

/** What an address answered instead of what was asked for (RFC 9457), or that none answered. */
export class Problem extends Error {
  constructor({ status = 0, code = "offline", title = "", detail = "" } = {}) {
    super(detail || title || "The bot does not answer.");
    Object.assign(this, { status, code, title, detail: detail || title || this.message });
  }
}

/**
 * How session.js keeps calls signed in: `renew` after a 401, `refresh` after a stale csrf. Neither
 * answers where somebody else signed in.
 */
export const session = { csrf: null, renew: async () => false, refresh: async () => false };

/**
 * Call the API. Answers `{status, data, etag}`; `data` is undefined on 204 and 304.
 * Throws a Problem. A call whose session has ended waits for a new sign-in and is sent again, if
 * that is of the same person.
 */
export async function call(method, path, { body, etag, alone = false } = {}) {
  let response = await send(method, path, body, etag);
  if (response.status === 401 && !alone && (await session.renew())) {
    response = await send(method, path, body, etag);
  }
  let problem = await problemOf(response);
  if (problem?.code === "bad_csrf" && !alone && (await session.refresh())) {
    response = await send(method, path, body, etag);
    problem = await problemOf(response);
  }
  if (problem) throw problem;
  const empty = response.status === 204 || response.status === 304;
  const data = empty ? undefined : await response.json();
  return { status: response.status, data, etag: response.headers.get("etag") };
}

/** Call the API and answer its data alone. */
export async function ask(method, path, body) {
  return (await call(method, path, { body })).data;
}

/** A path with what it names escaped: at`/admin/runs/${id}`. */
export function at(parts, ...names) {
  return parts.reduce((path, part, n) => path + encodeURIComponent(names[n - 1]) + part);
}

/** An answer that early.js asked for: good once, and only if it came with a session. */
async function takeEarly(path) {
  const answer = globalThis.early?.get(path);
  globalThis.early?.delete(path);
  const response = await answer;
  return response?.status === 401 ? undefined : response;
}

async function send(method, path, body, etag) {
  const headers = { accept: "application/json" };
  if (etag) headers["if-none-match"] = etag;
  if (method !== "GET" && session.csrf) headers["x-csrf-token"] = session.csrf;
  if (body !== undefined) headers["content-type"] = "application/json";
  const request = {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    redirect: "error",
  };
  try {
    const early = method === "GET" ? await takeEarly(path) : undefined;
    const response = early ?? (await fetch(path, request));
    setBotTime(response.headers.get("x-bot-time"));
    return response;
  } catch {
    throw new Problem();
  }
}

async function problemOf(response) {
  if (response.ok || response.status === 304) return null;
  const told = await response.json().catch(() => ({}));
  return new Problem({ code: "internal", ...told, status: response.status });
}
