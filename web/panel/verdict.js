// The answer to "was last night fine?": one sentence, the counts behind it, and one strip of all.
import { classes, html } from "../html.js";
import { BY_WEIGHT, Mark } from "../marks.js";
import { Hours } from "../scale.js";
import { Strip, countsOf, gapsOf } from "../strip.js";
import { clock, day, distance, duration, now } from "../time.js";
import { waits } from "./actions.js";

const SILENT_MS = 3 * 60_000;
const BAD = ["failed", "refused", "skipped_stale"];

const many = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

/** Stretches of time without a tick: `{from, to}` in epoch milliseconds. */
function silencesOf(span) {
  const start = Date.parse(span.from);
  const at = (place) => start + place * span.bucket_s * 1000;
  return gapsOf(span.ticks, span.buckets).map(([first, last]) => ({
    from: at(first),
    to: at(last + 1),
  }));
}

/**
 * Judge a day. Answers `{tone, title, counts, folded, silences}`; the tones are fine, bad, needs,
 * down and new.
 */
export function verdictOf({ schedules, span, lastTick }) {
  const entries = Object.values(span.firings).flat();
  const { counts, folded } = countsOf(entries);
  const waiting = schedules.filter(waits).length;
  const silences = silencesOf(span);
  const silent = lastTick === null ? null : now() - Date.parse(lastTick);
  const bad = BAD.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const told = { counts, folded, silences };
  if (silent !== null && silent > SILENT_MS) {
    return { tone: "down", title: `The bot has not ticked for ${duration(silent)}.`, ...told };
  }
  if (waiting) {
    const were = waiting === 1 ? "was" : "were";
    const title = `${many(waiting, "firing")} ${were} claimed and never started.`;
    return { tone: "needs", title, ...told };
  }
  if (bad)
    return { tone: "bad", title: `${bad} of ${many(all, "firing")} did not end well.`, ...told };
  if (silences.length) {
    const [{ from, to }] = silences;
    const title = `The bot did not tick from ${day(from)} ${clock(from)} to ${clock(to)}.`;
    return { tone: "bad", title, ...told };
  }
  if (!schedules.some(({ kind }) => kind === "stored")) {
    return { tone: "new", title: "Nothing is scheduled yet.", ...told };
  }
  return { tone: "fine", title: "The last 24 hours were fine.", ...told };
}

const SIGNS = {
  fine: "ok",
  new: "none",
  bad: "failed",
  needs: "claimed_not_started",
  down: "failed",
};

export function Verdict({ schedules, span, lastTick }) {
  const verdict = verdictOf({ schedules, span, lastTick });
  const { counts, folded, silences } = verdict;
  const everything = Object.values(span.firings).flat();
  return html`
    <section class=${classes("verdict", verdict.tone)} aria-labelledby="verdict">
      <div class="sentence">
        <${Mark} state=${SIGNS[verdict.tone]} />
        <h1 id="verdict">${verdict.title}</h1>
      </div>
      <ul class="counts" aria-label="The last 24 hours">
        ${BY_WEIGHT.filter((state) => counts[state]).map(
          (state) => html`<li class=${state} key=${state}>
            <${Mark} state=${state} /><b>${counts[state].toLocaleString("en")}</b> ${state}
          </li>`,
        )}
        ${folded > 0 && html`<li>${many(folded, "minute")} folded</li>`}
        ${silences.map(
          ({ from, to }) => html`<li class="silence" key=${from}>
            no tick ${day(from)} ${clock(from)}–${clock(to)} (${duration(to - from)})
          </li>`,
        )}
        <li class="tick">${lastTick ? `last tick ${distance(lastTick)}` : "no tick yet"}</li>
      </ul>
      <${Strip} span=${span} entries=${everything} label="All schedules, last 24 hours" tall />
      <${Hours} span=${span} />
    </section>
  `;
}
