// One run in full: what was asked and answered, by whom and with what, each call its agent made.
import { at } from "../api.js";
import { html } from "../html.js";
import { Markdown } from "../markdown.js";
import { State } from "../marks.js";
import { usePoll } from "../poll.js";
import { duration, full, moment } from "../time.js";
import { visible } from "../visible.js";

const Fact = ({ name, children }) =>
  children ? html`<div><dt>${name}</dt><dd dir="auto">${children}</dd></div>` : null;

const Step = ({ step }) => html`
  <li class=${step.outcome}>
    <b>${step.tool ?? "model"}</b> <span class="args" dir="auto">${step.args ?? ""}</span>
    <span class="second">
      ${step.outcome}, ${duration(step.ms)}${step.note ? `: ${step.note}` : ""}
    </span>
  </li>
`;

export function Run({ id }) {
  const { data: run, error } = usePoll(at`/admin/runs/${id}`, 5000);
  if (error && !run) return html`<p class="problem" role="alert">${error.detail}</p>`;
  if (!run) return html`<p class="loading">Reading the run …</p>`;
  return html`
    <div class="run">
      <dl class="facts">
        <${Fact} name="State"><${State} state=${run.state} code=${run.code} /><//>
        <${Fact} name="Actor">${run.actor}<//>
        <${Fact} name="Grants">${run.grants.join(", ") || "none"}<//>
        <${Fact} name="Pressed by">${run.by}<//>
        <${Fact} name="Route">${[run.route, run.effect].filter(Boolean).join(", ")}<//>
        <${Fact} name="Delivery">${run.delivery}<//>
        <${Fact} name="Admitted">
          <time datetime=${run.admitted_at} title=${full(run.admitted_at)}>
            ${moment(run.admitted_at)}
          </time>
        <//>
        <${Fact} name="Model calls">
          ${
            run.usage?.model_calls
              ? `${run.usage.model_calls}, ${run.usage.tokens_in} + ${run.usage.tokens_out} tokens`
              : ""
          }
        <//>
        <${Fact} name="Run"><code>${run.id}</code><//>
        <${Fact} name="Thread">
          ${
            run.thread?.startsWith("web:")
              ? html`<a href="/chat/#${encodeURIComponent(run.thread)}">${run.thread}</a>`
              : run.thread
          }
        <//>
      </dl>
      ${
        run.steps?.length > 0 &&
        html`<ol class="steps" aria-label="What its agent did">
        ${run.steps.map((step) => html`<${Step} key=${step.name} step=${step} />`)}
      </ol>`
      }
      <h3>Asked</h3>
      <pre class="asked" dir="auto">${visible(run.text)}</pre>
      <h3>Output</h3>
      ${run.output ? html`<${Markdown} text=${run.output} />` : html`<p class="faint">None yet.</p>`}
    </div>
  `;
}
