// What somebody has to do something about, at the top of the page: firings that never started.
import { html, useState } from "../html.js";
import { Mark } from "../marks.js";
import { distance, moment, rowClock, sameClock } from "../time.js";
import { lacking, refire, waits } from "./actions.js";

function Waiting({ schedule, grants, refresh }) {
  const [busy, work] = useState(false);
  const [problem, tell] = useState(null);
  const { due_at, claimed_at, coalesced } = schedule.last;
  const minute = rowClock(due_at);
  const why = lacking(grants, "schedule:fire");
  const press = async () => {
    if (busy || why) return;
    work(true);
    tell(null);
    try {
      await refire(schedule);
    } catch (error) {
      tell(error);
    }
    await refresh();
    work(false);
  };
  return html`
    <li class="waiting">
      <${Mark} state="claimed_not_started" />
      <div>
        <h3><a href="#/${encodeURIComponent(schedule.name)}">${schedule.name}</a></h3>
        <p>
          Due <b>${moment(due_at)}</b>${!sameClock(due_at) && ` (${minute} in ${schedule.zone})`},
          ${" "}claimed ${distance(claimed_at)}, and no run was started.
          ${coalesced > 0 && ` ${coalesced} earlier minutes are folded into it.`}
        </p>
        ${problem && html`<p class="problem" role="alert">${problem.detail}</p>`}
      </div>
      <div class="press">
        <button class="primary" aria-disabled=${busy || Boolean(why)} title=${why} onClick=${press}>
          Fire the ${minute} minute
        </button>
        <small>
          Re-fires that one minute as <code>schedule:${schedule.name}</code>: at most once, however
          often and by whomever it is pressed.
        </small>
      </div>
    </li>
  `;
}

export function Attention({ schedules, grants, refresh }) {
  const waiting = schedules.filter(waits);
  if (!waiting.length) return null;
  return html`
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention">Claimed, not started</h2>
      <ul>
        ${waiting.map(
          (schedule) => html`<${Waiting}
            key=${schedule.name}
            schedule=${schedule}
            grants=${grants}
            refresh=${refresh}
          />`,
        )}
      </ul>
    </section>
  `;
}
