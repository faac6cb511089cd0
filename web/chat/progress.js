// What a live run does meanwhile: each call of its agent as it comes.
import { ask, at } from "../api.js";
import { toast } from "../dialog.js";
import { html } from "../html.js";
import { Mark } from "../marks.js";
import { useClock, usePoll } from "../poll.js";
import { holds } from "../session.js";
import { duration, now } from "../time.js";

async function cancel(id) {
  try {
    const told = await ask("POST", "/admin/command", { text: `run cancel ${id}` });
    toast(told.text, told.outcome !== "ok");
  } catch (problem) {
    toast(problem.detail, true);
  }
}

const Step = ({ step }) => html`
  <li class=${step.outcome}>
    <b>${step.tool ?? "model"}</b> <span class="args" dir="auto">${step.args ?? ""}</span>
    <span class="second">
      ${step.outcome === "ok" ? "" : `${step.outcome}, `}${duration(step.ms)}
    </span>
  </li>
`;

export function Progress({ live, session }) {
  useClock(1000);
  const reads = holds(session.grants, "run:read");
  const { data: run } = usePoll(reads ? at`/admin/runs/${live.id}` : null, 1500);
  const since = Date.parse(live.started_at ?? live.admitted_at);
  const seconds = Math.max(0, Math.round((now() - since) / 1000));
  const steps = run?.steps ?? [];
  const does = live.started_at ? "Working" : "Starting";
  return html`
    <div class="progress" role="status">
      <p class="bar">
        <${Mark} state="running" />
        <span>${does} on ${live.name ?? `what ${live.actor} said`}, ${seconds} s</span>
        ${
          holds(session.grants, "run:cancel") &&
          html`<button class="quiet" onClick=${() => cancel(live.id)}>Cancel</button>`
        }
      </p>
      ${
        steps.length > 0 &&
        html`<ol class="steps">
          ${steps.slice(-6).map((step) => html`<${Step} key=${step.name} step=${step} />`)}
        </ol>`
      }
    </div>
  `;
}
