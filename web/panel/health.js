// How the tick does: its time against its bound, and the claims that had no run against theirs.
import { classes, html } from "../html.js";
import { Mark } from "../marks.js";
import { duration } from "../time.js";

const LEAST_MS = 10;
const MOST_MS = 10_000;
const STEPS = [10, 100, 1000, 10_000];

/** The place of a duration on a logarithmic scale from 10 ms to 10 s. */
function placeOf(ms) {
  const part = Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(MOST_MS / LEAST_MS);
  return `${(100 * Math.min(part, 1)).toFixed(1)}%`;
}

const Bound = ({ at, children }) =>
  html`<i class="bound" style=${{ left: at }}><span>${children}</span></i>`;

const Range = ({ from, to, past }) => html`
  <i class=${classes("range", past && "past")} style=${{ left: from, right: `calc(100% - ${to})` }}></i>
`;

function Spread({ title, spread, bound }) {
  const { count, p50, p95 } = spread;
  const words = count
    ? `${title}: half of the ticks within ${duration(p50)}, 95 of 100 within ${duration(p95)}`
    : `${title}: no ticks`;
  return html`
    <div class="gauge">
      <h3>${title} <span class="count">${count.toLocaleString("en")} ticks</span></h3>
      <div class="track" role="img" aria-label="${words}, bound ${duration(bound)}">
        ${
          count > 0 &&
          html`<${Range} from=${placeOf(p50)} to=${placeOf(p95)} />
          <i class="dot" style=${{ left: placeOf(p50) }}></i>
          <i class=${p95 > bound ? "dot past" : "dot"} style=${{ left: placeOf(p95) }}></i>`
        }
        <${Bound} at=${placeOf(bound)}>${duration(bound)}<//>
      </div>
      <div class="scale" aria-hidden="true">
        ${STEPS.map((ms) => html`<span style=${{ left: placeOf(ms) }}>${duration(ms)}</span>`)}
      </div>
      <p class="figures">
        ${count ? html`p50 <b>${duration(p50)}</b>, p95 <b>${duration(p95)}</b>` : "No ticks yet."}
      </p>
    </div>
  `;
}

function Claims({ count, bound, passed }) {
  const most = Math.max(5, count);
  const share = (n) => `${(100 * n) / most}%`;
  return html`
    <div class="gauge">
      <h3>Claims with no run <span class="count">30 days</span></h3>
      <div
        class="track"
        role="img"
        aria-label="${count} claims with no run in 30 days, bound ${bound} a month"
      >
        ${count > 0 && html`<${Range} from="0%" to=${share(count)} past=${passed} />`}
        <${Bound} at=${share(bound)}>${bound} a month<//>
      </div>
      <div class="scale" aria-hidden="true"></div>
      <p class="figures"><b>${count}</b> ${count === 1 ? "claim" : "claims"}</p>
    </div>
  `;
}

export function Health({ ticks }) {
  const { bounds } = ticks;
  const passed = bounds.p95_passed || bounds.claims_without_run_passed;
  return html`
    <section class="health" aria-labelledby="health">
      <h2 id="health">
        The tick
        <span class=${passed ? "badge bad" : "badge good"}>
          <${Mark} state=${passed ? "failed" : "ok"} />
          ${passed ? "past a bound" : "within both bounds"}
        </span>
      </h2>
      <div class="gauges">
        <${Spread} title="24 hours" spread=${ticks.h24} bound=${bounds.p95_ms} />
        <${Spread} title="30 days" spread=${ticks.d30} bound=${bounds.p95_ms} />
        <${Claims}
          count=${ticks.claims_without_run.d30}
          bound=${bounds.claims_without_run}
          passed=${bounds.claims_without_run_passed}
        />
      </div>
    </section>
  `;
}
