// What the marks mean, under the table.
import { STATES } from "../generated/texts.js";
import { html } from "../html.js";
import { Mark } from "../marks.js";
import { Strip } from "../strip.js";

const SAMPLE = {
  from: "2026-01-01T12:00:00Z",
  bucket_s: 1,
  buckets: 3,
  ticks: [
    [0, 1],
    [1, 1],
    [2, 1],
  ],
};

export const Legend = () => html`
  <details class="legend">
    <summary>What the marks mean</summary>
    <dl>
      ${Object.entries(STATES).map(
        ([state, sentence]) => html`<div key=${state} class=${state}>
          <dt>
            <${Mark} state=${state} />
            <${Strip} span=${SAMPLE} entries=${[[1, state, 1, 0]]} label=${state} />
            ${state}
          </dt>
          <dd>${sentence}.</dd>
        </div>`,
      )}
      <div>
        <dt><i class="gap sample"></i> gap</dt>
        <dd>
          The bot did not tick. What fell due then fires once when it is back; the rest is folded.
        </dd>
      </div>
    </dl>
  </details>
`;
