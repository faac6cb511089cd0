// Names of git objects, made the way git makes them.

import { createHash } from "node:crypto";

/** The SHA-1 of a git object of that kind ("blob", "commit", "tree") with that text. */
export function gitSha(kind, text) {
  const bytes = Buffer.from(text, "utf8");
  return createHash("sha1").update(`${kind} ${bytes.length}\0`).update(bytes).digest("hex");
}
