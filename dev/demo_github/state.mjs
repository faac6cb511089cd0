// The world kept in a file, so that a demo's issues survive a restart.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { seed } from "./seed.mjs";

/** The seed with what the file holds laid over it; a file that cannot be read is an error. */
export function load(file) {
  const world = seed();
  if (!file || !existsSync(file)) return world;
  for (const [name, kept] of Object.entries(JSON.parse(readFileSync(file, "utf8")))) {
    const repository = world.repositories.get(name);
    if (repository) Object.assign(repository, { issues: kept.issues, branches: kept.branches });
  }
  return world;
}

/** Write what can change: issues, pull requests, branches. */
export function save(file, world) {
  if (!file) return;
  const kept = [...world.repositories].map(([name, { issues, branches }]) =>
    [name, { issues, branches }]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(kept)));
  renameSync(`${file}.new`, file);
}
