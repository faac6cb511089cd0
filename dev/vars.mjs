// The Worker's variables: those of wrangler.jsonc, those of the vars file, and generated secrets for
// what neither sets.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";

const secret = () => randomBytes(24).toString("base64url");

const GENERATED = {
  ADMINS: () => "http:admin,web:admin",
  INGRESS_TOKENS: () => JSON.stringify({ admin: secret() }),
  CRON_TOKEN: secret,
  INTERNAL_KEY: secret,
  SESSION_KEY: secret,
  SEAL_KEY: secret,
};

/** What holds on this machine alone, unless it is set otherwise. */
const LOCAL = { ALLOW_PRIVATE_ADDRESSES: "true" };

/**
 * Return `{vars, adminToken}`. A variable that is set, if only to the empty string, is never
 * generated; one that is generated is kept in the state folder. `adminToken` is null when the
 * tokens are the user's own.
 */
export function readVars(project, { vars: file, state }) {
  const set = { ...LOCAL, ...project.vars, ...readVarsFile(project.root, file) };
  const missing = Object.keys(GENERATED).filter((name) => !(name in set));
  const generated = missing.length > 0 ? generatedSecrets(state) : {};
  for (const name of missing) set[name] = generated[name];
  const adminToken = missing.includes("INGRESS_TOKENS")
    ? JSON.parse(set.INGRESS_TOKENS).admin
    : null;
  return { vars: set, adminToken };
}

function readVarsFile(root, file) {
  const chosen = file ?? path.join(root, ".dev.vars");
  if (file === undefined && !fs.existsSync(chosen)) return {};
  return parseEnv(fs.readFileSync(chosen, "utf8"));
}

/** Return every generated secret, of which those that the state folder lacks are made now. */
function generatedSecrets(state) {
  const file = path.join(state, "secrets.json");
  const kept = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  const lacking = Object.entries(GENERATED).filter(([name]) => !(name in kept));
  if (lacking.length === 0) return kept;
  const all = { ...kept, ...Object.fromEntries(lacking.map(([name, make]) => [name, make()])) };
  fs.mkdirSync(state, { recursive: true });
  fs.writeFileSync(file, JSON.stringify(all, null, 2), { mode: 0o600 });
  return all;
}
