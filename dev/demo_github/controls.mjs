// What tests do to the demo: make requests fail, read what was asked, start afresh.

const LOG_LENGTH = 1000;

/**
 * Failures to come and requests that came.
 *
 * A failure is `{path_prefix, method?, status?, headers?, body?, times = 1, delay_ms = 0,
 * drop = false, after = false}`. Without a status it only delays. `drop` cuts the connection
 * in place of an answer. `after` carries the request out first, so that a write is done and its
 * answer is late or lost.
 */
export class Controls {
  #failures = [];
  #log = [];

  get requests() {
    return this.#log;
  }

  clear() {
    this.#failures = [];
    this.#log = [];
  }

  /** Add a failure; says what is wrong with it, or null. */
  fail(failure) {
    if (typeof failure?.path_prefix !== "string") return "path_prefix must be a string";
    const { status, times = 1, delay_ms = 0 } = failure;
    if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status < 600)) {
      return "status must be a whole number from 200 to 599";
    }
    if (!Number.isInteger(times) || times < 1) return "times must be a whole number from 1";
    if (!(delay_ms >= 0 && delay_ms <= 60_000)) return "delay_ms must be from 0 to 60000";
    this.#failures.push({ ...failure, times, delay_ms });
    return null;
  }

  /** The first failure that meets this request, counted down; undefined if none does. */
  take(method, path) {
    const met = this.#failures.find((each) =>
      path.startsWith(each.path_prefix) && (!each.method || each.method === method));
    if (met && --met.times === 0) this.#failures.splice(this.#failures.indexOf(met), 1);
    return met;
  }

  /** Keep a request; the token is not kept. Returns the entry, whose status comes later. */
  log(request) {
    const { authorization, ...headers } = request.headers;
    const entry = {
      at: request.at, method: request.method, path: request.url, headers,
      authorized: Boolean(authorization), body: readable(request.text), status: null,
    };
    this.#log.push(entry);
    if (this.#log.length > LOG_LENGTH) this.#log.shift();
    return entry;
  }
}

function readable(text) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
