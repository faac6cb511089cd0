// Who is signed in: by a token or by Cloudflare Access. Ends without warning, asks once, and then
// lets every call that waited go on.
import { Problem, call, session } from "./api.js";
import { useEffect, useState } from "./html.js";

/** Kept while somebody is signed in: early.js asks for data only then. */
const HINT = "signed-in";

/**
 * `phase`: loading; out (never signed in here); in; ended (asking for a new sign-in over the page);
 * left (the question was put off: nothing is asked until the viewer wants to). `epoch` counts the
 * sign-ins.
 */
const state = { phase: "loading", actor: null, grants: [], error: null, epoch: 0 };
const watchers = new Set();
let renewal = null;
let settle = null;

function change(changes) {
  Object.assign(state, changes);
  for (const watcher of watchers) watcher({ ...state });
}

/** The session as it stands, in a component. */
export function useSession() {
  const [shown, show] = useState({ ...state });
  useEffect(() => {
    show({ ...state });
    watchers.add(show);
    return () => watchers.delete(show);
  }, []);
  return shown;
}

/** Find out who is signed in, as the page opens. */
export async function load() {
  try {
    if (await restore()) return;
    change({ phase: "out" });
  } catch (problem) {
    change({ phase: "out", error: problem });
  }
}

/** Sign in with a token. Throws a Problem where it is refused. */
export async function signIn(token) {
  await begin((await call("POST", "/api/session", { body: { token }, alone: true })).data);
}

/** Sign out, and show the way in. */
export async function signOut() {
  await call("DELETE", "/api/session", {}).catch(() => undefined);
  localStorage.removeItem(HINT);
  session.csrf = null;
  change({ phase: "out", actor: null, grants: [] });
}

/** Put the question off: what waited for it fails, and nothing is asked until `askAgain`. */
export function putOff() {
  change({ phase: "left" });
  finish(false);
}

/** Ask for a new sign-in now, after it was put off. */
export const askAgain = () => change({ phase: "ended" });

/** Whether the viewer's grants name an action; grants on single repositories do not count. */
export const holds = (grants, action) =>
  grants.some((grant) => {
    if (grant === "all" || grant === action) return true;
    return grant.endsWith(":*") && action.startsWith(grant.slice(0, -1));
  });

/**
 * Take a session up. Where it is another person's than the page's, what is shown and what waits to
 * be sent are not theirs: the page is loaded anew, and nothing that waited goes on.
 */
async function begin(told) {
  if (state.actor !== null && told.actor !== state.actor) {
    location.reload();
    await new Promise(() => {});
  }
  session.csrf = told.csrf;
  localStorage.setItem(HINT, "yes");
  const epoch = state.epoch + 1;
  change({ phase: "in", actor: told.actor, grants: told.grants ?? [], error: null, epoch });
  finish(true);
}

function finish(signedIn) {
  settle?.(signedIn);
  settle = null;
}

/** Take up a session that lives already (another tab's), or one that Access opens by itself. */
async function restore() {
  const { data } = await call("GET", "/api/sign-in", { alone: true });
  if (data.session) {
    await begin(data.session);
    return true;
  }
  if (!data.access) return false;
  try {
    await begin((await call("POST", "/api/session", { body: {}, alone: true })).data);
    return true;
  } catch (problem) {
    if (problem instanceof Problem && problem.status >= 400) return false;
    throw problem;
  }
}

session.renew = () => {
  if (state.phase !== "in" && state.phase !== "ended") return Promise.resolve(false);
  renewal ??= renew().finally(() => (renewal = null));
  return renewal;
};

async function renew() {
  if (await restore().catch(() => false)) return true;
  change({ phase: "ended" });
  return new Promise((resolve) => (settle = resolve));
}

session.refresh = () => restore().catch(() => false);

/** A sign-in in another tab answers the question here: looked for when the viewer comes back. */
function lookElsewhere() {
  if (document.hidden || (state.phase !== "ended" && state.phase !== "left")) return;
  restore().catch(() => false);
}

document.addEventListener("visibilitychange", lookElsewhere);
addEventListener("focus", lookElsewhere);
addEventListener("online", lookElsewhere);
