// Stands before the Worker, serves the runtime's two controls and hands on everything else.
import settings from "./settings.mjs";

const CONTROLS = {
  "/__local/clock": (request, url, env) => setClock(request, env),
  "/cdn-cgi/local/scheduled": (request, url, env) => fireScheduled(url, env),
};
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (Object.hasOwn(CONTROLS, url.pathname)) {
      const refusal = notFromHere(request, url);
      return refusal ?? CONTROLS[url.pathname](request, url, env);
    }
    try {
      return await env.WORKER.fetch(request);
    } catch (error) {
      console.error(String(error.stack ?? error));
      return new Response("Internal Server Error", { status: 500 });
    }
  },
};

function problem(status, title, detail) {
  return new Response(JSON.stringify({ status, title, detail }), {
    status,
    headers: { "content-type": "application/problem+json" },
  });
}

/**
 * Whoever can reach loopback is taken for this machine's user; a web page is not. Refuse what a
 * page of another host asks for, and what came by a name that somebody pointed at loopback.
 */
function notFromHere(request, url) {
  if (!LOOPBACK.has(url.hostname)) {
    return problem(403, "Forbidden", "the controls are at 127.0.0.1, localhost and [::1] alone");
  }
  const origin = request.headers.get("origin") ?? url.origin;
  const site = request.headers.get("sec-fetch-site") ?? "none";
  if (origin === url.origin && (site === "same-origin" || site === "none")) return null;
  return problem(403, "Forbidden", "a page of another host asked for this");
}

async function setClock(request, env) {
  if (request.method !== "POST") return problem(405, "Method not allowed", "POST sets the clock");
  const body = await request.json().catch(() => undefined);
  const wanted = body?.now;
  const time = wanted === null ? null : Date.parse(wanted);
  if (time !== null && (typeof wanted !== "string" || Number.isNaN(time))) {
    return problem(400, "Malformed", 'the body is {"now": ISO 8601 time or null}');
  }
  return Response.json({ now: new Date(await env.CONTROLS.setClock(time)).toISOString() });
}

async function fireScheduled(url, env) {
  const cron = url.searchParams.get("cron");
  if (!settings.crons.includes(cron)) {
    const known = settings.crons.map((each) => `"${each}"`).join(", ");
    return problem(400, "Unknown cron", `cron is one of triggers.crons: ${known}; got "${cron}"`);
  }
  const time = Number(url.searchParams.get("time") ?? (await env.CONTROLS.now()));
  if (!Number.isSafeInteger(time)) return problem(400, "Malformed", "time is epoch milliseconds");
  const { outcome } = await env.EVENTS.scheduled({ cron, scheduledTime: new Date(time) });
  if (outcome === "ok") return new Response(outcome);
  const failure = await env.CONTROLS.takeFailure(cron, time);
  return new Response(failure ?? outcome, { status: 500 });
}
