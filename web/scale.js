// The scales under strips, on the viewer's clock.
import { html } from "./html.js";
import { clock, day } from "./time.js";

const HOUR = 3_600_000;

function Scale({ span, marks, word }) {
  const start = Date.parse(span.from);
  const length = span.buckets * span.bucket_s * 1000;
  const left = (at) => `${((100 * (at - start)) / length).toFixed(2)}%`;
  // A label that begins near the end would be cut in half.
  const inside = marks.filter((at) => at < start + 0.88 * length);
  return html`<div class="scale" aria-hidden="true">
    ${inside.map((at) => html`<span key=${at} style=${{ left: left(at) }}>${word(at)}</span>`)}
  </div>`;
}

/** Under 24 hours: every third hour. */
export function Hours({ span }) {
  const end = Date.parse(span.from) + span.buckets * span.bucket_s * 1000;
  const marks = [];
  for (let at = new Date(span.from).setMinutes(60, 0, 0); at < end; at += HOUR) {
    if (new Date(at).getHours() % 3 === 0) marks.push(at);
  }
  return html`<${Scale} span=${span} marks=${marks} word=${clock} />`;
}

/** Under 30 days: every Monday. */
export function Days({ span }) {
  const end = Date.parse(span.from) + span.buckets * span.bucket_s * 1000;
  const marks = [];
  for (let at = new Date(span.from).setHours(24, 0, 0, 0); at < end;) {
    if (new Date(at).getDay() === 1) marks.push(at);
    at = new Date(at).setHours(24, 0, 0, 0);
  }
  return html`<${Scale} span=${span} marks=${marks} word=${day} />`;
}
