// Times for people: the viewer's own clock, a row's clock, ages and durations. English, 24 hours.
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let ahead = 0;

/** Note the bot's clock, by which ages are told; an answer without one changes nothing. */
export function setBotTime(iso) {
  const told = Date.parse(iso ?? "");
  // Told to the second: half a second late on average.
  if (!Number.isNaN(told)) ahead = Math.abs(told - Date.now()) < 2000 ? 0 : told + 500 - Date.now();
}

/** Epoch milliseconds by the bot's clock. */
export const now = () => Date.now() + ahead;

const format = (options) => new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options });
const CLOCK = format({ hour: "2-digit", minute: "2-digit" });
const DATE = format({ weekday: "short", day: "numeric", month: "short" });
const FULL = format({ dateStyle: "full", timeStyle: "long" });
const midnight = (at) => new Date(at).setHours(0, 0, 0, 0);

/** The time of day in the viewer's zone: 03:00. */
export const clock = (at) => CLOCK.format(at);

/** Everything about an instant, for a title: Monday 30 November 2026 at 03:00:00 CET. */
export const full = (iso) => FULL.format(Date.parse(iso));

/** The day in the viewer's zone, in words where it is near: today, yesterday, Fri 4 Dec. */
export function day(at) {
  const days = Math.round((midnight(at) - midnight(now())) / DAY);
  const near = { "-1": "yesterday", 0: "today", 1: "tomorrow" };
  return near[days] ?? DATE.format(at).replace(",", "");
}

/** Day and time in the viewer's zone: tomorrow 03:00. Today goes without saying. */
export function moment(iso) {
  const at = Date.parse(iso);
  const name = day(at);
  return name === "today" ? clock(at) : `${name} ${clock(at)}`;
}

/** The time of day that a row's own clock shows, out of an ISO time with the row's offset. */
export const rowClock = (iso) => iso.slice(11, 16);

/** Whether the viewer's clock and the row's show the same time then. */
export const sameClock = (iso) => clock(Date.parse(iso)) === rowClock(iso);

/** How long: 40 ms, 4.2 s, 42 s, 3 min, 2 h 5 min, 3 d. */
export function duration(ms) {
  const rounded = Math.round(ms);
  if (rounded < 1000) return `${rounded} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1).replace(".0", "")} s`;
  if (ms < 99_500) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  if (minutes >= 48 * 60) return `${Math.round(ms / DAY)} d`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

/** How far off an instant is: in 4 min, 12 s ago. */
export function distance(iso) {
  const ms = Date.parse(iso) - now();
  const length = Math.abs(ms) < 10_000 ? 1000 * Math.round(Math.abs(ms) / 1000) : Math.abs(ms);
  if (length === 0) return "now";
  return ms > 0 ? `in ${duration(length)}` : `${duration(length)} ago`;
}
