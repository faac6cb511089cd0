// The strip: a span of time with a mark for every firing, the folded minutes, and the gaps in which
// the bot did not tick. Marks differ by their heights as well as by colour.
import { html, useMemo, useState } from "./html.js";
import { BY_WEIGHT } from "./marks.js";
import { clock, day } from "./time.js";

const HEIGHT = 16;

/** Vertical pieces of each state's mark, from the top (0) to the bottom (14). */
const PIECES = {
  ok: [[7, 14]],
  running: [
    [2, 5],
    [6.5, 9.5],
    [11, 14],
  ],
  starting: [
    [7, 9],
    [12, 14],
  ],
  failed: [[0, 14]],
  refused: [
    [0, 7],
    [12, 14],
  ],
  claimed_not_started: [
    [0, 5],
    [9, 14],
  ],
  skipped_stale: [[11, 14]],
};

/** The places of a strip that had no tick between two that had some, as `[first, last]` pairs. */
export function gapsOf(ticks, buckets) {
  if (!ticks?.length) return [];
  const gaps = [];
  const places = [...ticks.map(([place]) => place), buckets - 1];
  for (let n = 1; n < places.length; n += 1) {
    const missing = places[n] - places[n - 1] - 1;
    if (missing > 0) gaps.push([places[n - 1] + 1, places[n] - 1]);
  }
  return gaps;
}

/** What each state came to: `{ok: 41, failed: 1}`, and how many minutes were folded. */
export function countsOf(entries) {
  const counts = {};
  let folded = 0;
  for (const [, state, n, more] of entries) {
    counts[state] = (counts[state] ?? 0) + n;
    folded += more;
  }
  return { counts, folded };
}

/** Counts in words, the worst first: 1 failed, 41 ok, 14 minutes folded. */
export function inWords({ counts, folded }) {
  const states = BY_WEIGHT.filter((state) => counts[state]);
  const words = states.map((state) => `${counts[state]} ${state}`);
  if (folded) words.push(`${folded} ${folded === 1 ? "minute" : "minutes"} folded`);
  return words.join(", ") || "nothing fired";
}

function pathsOf(entries) {
  const byPlace = new Map();
  for (const [place, state] of entries) byPlace.set(place, [...(byPlace.get(place) ?? []), state]);
  const paths = {};
  for (const [place, states] of byPlace) {
    states.sort((a, b) => BY_WEIGHT.indexOf(a) - BY_WEIGHT.indexOf(b));
    states.forEach((state, n) => {
      const x = (place + (n + 0.5) / states.length).toFixed(2);
      const pieces = (PIECES[state] ?? PIECES.ok).map(([top, end]) => `M${x} ${top}V${end}`);
      paths[state] = (paths[state] ?? "") + pieces.join("");
    });
  }
  return paths;
}

/** Lines under the marks from the firing before to one that folded minutes into itself. */
function foldsOf(entries) {
  const places = [...new Set(entries.map(([place]) => place))].sort((a, b) => a - b);
  return entries
    .filter(([, , , folded]) => folded > 0)
    .map(([place]) => `M${(places[places.indexOf(place) - 1] ?? 0) + 0.5} 15.4H${place + 0.5}`)
    .join("");
}

/** Lines where a day begins on the viewer's clock. */
function daysOf({ from, bucket_s, buckets }) {
  const start = Date.parse(from);
  const placeOf = (at) => (at - start) / (bucket_s * 1000);
  let lines = "";
  let at = new Date(start).setHours(24, 0, 0, 0);
  while (placeOf(at) < buckets) {
    lines += `M${placeOf(at).toFixed(2)} 0V${HEIGHT}`;
    at = new Date(at).setHours(24, 0, 0, 0);
  }
  return lines;
}

/** What happened around a place: the nearest firing's words, or that the bot did not tick. */
function tellAt(place, { from, bucket_s, buckets, ticks }, entries) {
  const distances = entries.map(([each]) => Math.abs(each - place));
  const nearest = Math.min(...distances);
  const reach = Math.max(1, buckets / 60);
  const shown = nearest <= reach ? entries[distances.indexOf(nearest)][0] : place;
  const begins = Date.parse(from) + shown * bucket_s * 1000;
  const ends = begins + bucket_s * 1000;
  const there = entries.filter((entry) => entry[0] === shown);
  const silent = gapsOf(ticks, buckets).some(([first, last]) => first <= shown && shown <= last);
  const what = there.length
    ? inWords(countsOf(there))
    : silent
      ? "the bot did not tick"
      : "nothing";
  return `${day(begins)} ${clock(begins)}–${clock(ends)}: ${what}`;
}

/**
 * One schedule's strip over `span` (the answer of /admin/strips). `entries` are its
 * `[place, state, count, folded]`; `label` names it to a screen reader.
 */
export function Strip({ span, entries, label, tall = false }) {
  const [told, tell] = useState(null);
  const drawn = useMemo(() => {
    const gaps = gapsOf(span.ticks, span.buckets);
    return { gaps, paths: pathsOf(entries), folds: foldsOf(entries), days: daysOf(span) };
  }, [span, entries]);
  const share = (places) => `${((100 * places) / span.buckets).toFixed(2)}%`;
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.999);
    tell({ part, text: tellAt(Math.floor(part * span.buckets), span, entries) });
  };
  const percent = told && 100 * told.part;
  const side = percent > 50 ? { right: `${100 - percent}%` } : { left: `${percent}%` };
  return html`
    <div
      class=${tall ? "strip tall" : "strip"}
      onPointerMove=${point}
      onPointerLeave=${() => tell(null)}
    >
      ${drawn.gaps.map(
        ([first, last]) =>
          html`<i class="gap" style=${{ left: share(first), width: share(last - first + 1) }}></i>`,
      )}
      <svg
        viewBox="0 0 ${span.buckets} ${HEIGHT}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${label}: ${inWords(countsOf(entries))}"
      >
        <path class="days" d=${drawn.days} />
        ${drawn.folds && html`<path class="folds" d=${drawn.folds} />`}
        ${Object.entries(drawn.paths).map(([state, d]) => html`<path class=${state} d=${d} />`)}
      </svg>
      ${told && html`<span class="tip" aria-hidden="true" style=${side}>${told.text}</span>`}
    </div>
  `;
}
