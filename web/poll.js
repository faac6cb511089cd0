// Data that stays fresh: asked for again while the page is seen, 304 while nothing changes.
import { call } from "./api.js";
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { useSession } from "./session.js";

const LONGEST_PAUSE = 30_000;

/** The last answer of each path: `{data, etag}`. */
const kept = new Map();

const pollers = new Map();

/** Ask now for what is being shown of the paths that begin so. */
export function hasten(beginning) {
  for (const [poller, path] of pollers) if (path.startsWith(beginning)) poller.run();
}

/** Forget every answer: they were another person's. */
export const forget = () => kept.clear();

/**
 * The data of a path, asked for `every` ms while the page is seen and `path` is not null.
 * Answers `{data, error, refresh}`; the last data stays while an error lasts.
 */
export function usePoll(path, every) {
  const [shown, show] = useState({ path, data: kept.get(path)?.data, error: null });
  const poller = useRef(null);
  const { epoch } = useSession();
  useEffect(() => {
    if (path === null) return undefined;
    poller.current = startPolling(path, every, (change) =>
      show((last) => {
        const next = {
          data: undefined,
          error: null,
          ...(last.path === path ? last : {}),
          ...change,
        };
        const same = last.path === path && last.data === next.data && last.error === next.error;
        return same ? last : { ...next, path };
      }),
    );
    return poller.current.stop;
  }, [path, every, epoch]);
  const refresh = useCallback(() => poller.current?.run(), []);
  const own = shown.path === path ? shown : { data: kept.get(path)?.data, error: null };
  return { data: own.data, error: own.error, refresh };
}

function startPolling(path, every, tell) {
  let timer = null;
  let running = false;
  let again = false;
  let stopped = false;
  let failures = 0;

  async function run() {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    again = running;
    if (running) return;
    running = true;
    try {
      const data = await read(path);
      failures = 0;
      if (!stopped) tell({ data, error: null });
    } catch (error) {
      failures += 1;
      if (!stopped) tell({ error });
      // A new sign-in starts the polling anew.
      stopped ||= error.status === 401;
    }
    running = false;
    if (again) return run();
    const pause = every * 2 ** Math.min(failures, 5);
    timer = setTimeout(run, Math.min(pause, Math.max(every, LONGEST_PAUSE)));
  }

  function stop() {
    stopped = true;
    pollers.delete(poller);
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", run);
    removeEventListener("online", run);
  }

  document.addEventListener("visibilitychange", run);
  addEventListener("online", run);
  const poller = { run, stop };
  pollers.set(poller, path);
  run();
  return poller;
}

async function read(path) {
  const before = kept.get(path);
  const answer = await call("GET", path, { etag: before?.etag });
  if (answer.status === 304) return before.data;
  kept.set(path, { data: answer.data, etag: answer.etag });
  return answer.data;
}

/** Draw a component again every `ms`, for the ages that it shows. */
export function useClock(ms) {
  const [, count] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || count((n) => n + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
