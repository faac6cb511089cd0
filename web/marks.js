// The marks of states: a shape for each, so that no state is told by its colour alone.
import { CODES, STATES } from "./generated/texts.js";
import { html } from "./html.js";

const ring = () => html`<circle cx="8" cy="8" r="5.75" />`;
const SHAPES = {
  starting: () => html`<circle cx="8" cy="8" r="5.75" stroke-dasharray="2.4 2.1" />`,
  claimed_not_started: () =>
    html`<path d="M8 1.6 14.4 8 8 14.4 1.6 8Z" /><path d="M8 5v3.6M8 10.6v.6" />`,
  running: () => html`${ring()}<path class="solid" d="M8 2.25a5.75 5.75 0 0 1 0 11.5Z" />`,
  ok: () =>
    html`<circle class="solid" cx="8" cy="8" r="6.25" /><path class="cut" d="m5.2 8.2 2 2 3.7-4.2" />`,
  failed: () => html`<rect class="solid" x="1.9" y="1.9" width="12.2" height="12.2" rx="2" />
    <path class="cut" d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" />`,
  refused: () => html`${ring()}<path d="m4.1 11.9 7.8-7.8" />`,
  skipped_stale: () => html`<path d="m2.8 4.2 4.4 3.8-4.4 3.8Zm5.6 0 4.4 3.8-4.4 3.8Z" />`,
  none: () => html`<path d="M4 8h8" />`,
  paused: () => html`<path d="M5.6 4v8m4.8-8v8" />`,
};

/** From the worst to the best: what a glance should find first. */
export const BY_WEIGHT = [
  "claimed_not_started",
  "failed",
  "refused",
  "running",
  "starting",
  "skipped_stale",
  "ok",
];

/** The mark of a state, for eyes; its word stands beside it. */
export const Mark = ({ state }) => html`
  <svg class="mark ${state}" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${(SHAPES[state] ?? SHAPES.none)()}
  </svg>
`;

/** A state in the contract's word, with its mark, and with its code where there is one. */
export const State = ({ state, code }) => html`
  <span class="state ${state}" title=${STATES[state] ?? ""}>
    <${Mark} state=${state} /><span class="word">${state}</span>
    ${code && html`<span class="code" title=${CODES[code] ?? ""}>${code}</span>`}
  </span>
`;

/** How the outcome reached its channel: a word of its own, apart from the state. */
export function Delivery({ delivery }) {
  if (!delivery) return null;
  const [word, ...reason] = delivery.split(": ");
  const why = reason.join(": ");
  return html`<span class="delivery ${word}">${word}${why && html`: <q>${why}</q>`}</span>`;
}
