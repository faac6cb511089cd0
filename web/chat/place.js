// Where something is said: the addresses of channels and threads, and their titles.
import { moment } from "../time.js";

/** The hash that leads to a channel (web:ops) or a thread (web:ops/abc). */
export const hashOf = (key) => `#${encodeURIComponent(key)}`;

/** What a hash names: `{channel, thread}`, or null where it names nothing. */
export function placeIn(hash) {
  try {
    const key = decodeURIComponent(hash.slice(1));
    return key ? { channel: key.split("/")[0], thread: key.includes("/") ? key : null } : null;
  } catch {
    return null;
  }
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)/g;

/** A thread's title in two parts: its name, and what follows, with times on the viewer's clock. */
export function titleOf(title) {
  const [name, ...rest] = title.split(" · ");
  return [name, rest.join(" · ").replace(ISO, moment)];
}
