// What can be done to a schedule, each in a dialog that says what it will do.
import { ask, at } from "../api.js";
import { Confirm, toast } from "../dialog.js";
import { html } from "../html.js";
import { holds } from "../session.js";
import { moment, rowClock } from "../time.js";

/** Whether a schedule waits for somebody to press Fire. */
export const waits = (schedule) => schedule.last?.state === "claimed_not_started";

const path = (name, rest = "") => at`/admin/schedules/${name}` + rest;

/** Why the viewer may not do something, or undefined where they may. */
export const lacking = (grants, action) =>
  holds(grants, action) ? undefined : `You do not hold ${action}.`;

/** Press Fire for a firing that was claimed and never started. Throws a Problem. */
export async function refire(schedule) {
  const told = await ask("POST", path(schedule.name, "/fire"));
  toast(
    `${schedule.name}: the ${rowClock(schedule.last.due_at)} minute is fired. It is ${told.state}.`,
  );
}

const Refire = ({ schedule, done }) => html`
  <${Confirm}
    title="Fire the ${rowClock(schedule.last.due_at)} minute of ${schedule.name}?"
    verb="Fire the ${rowClock(schedule.last.due_at)} minute"
    onClose=${done}
    act=${() => refire(schedule)}
  >
    <p>
      It was claimed and never started. This re-fires that one minute as${" "}
      <code>schedule:${schedule.name}</code>: at most once, however often and by whomever it is
      pressed.
    </p>
  <//>
`;

const FireOnce = ({ schedule, done }) => html`
  <${Confirm}
    title="Fire ${schedule.name} once, now?"
    verb="Fire once"
    onClose=${done}
    act=${async () => {
      const told = await ask("POST", path(schedule.name, "/fire"));
      toast(`${schedule.name} is fired by hand. It is ${told.state}.`);
    }}
  >
    <p>
      It runs as <code>schedule:${schedule.name}</code>${" "}
      ${schedule.grants.length ? "with its own grants" : "with no grants"} and answers in${" "}
      <code>${schedule.channel}</code>. Its own times stay as they are:${" "}
      ${schedule.next.length ? html`next <b>${moment(schedule.next[0])}</b>.` : "it is paused."}
    </p>
  <//>
`;

const Fire = ({ schedule, done }) =>
  waits(schedule)
    ? html`<${Refire} schedule=${schedule} done=${done} />`
    : html`<${FireOnce} schedule=${schedule} done=${done} />`;

const Pause = ({ schedule, done }) => html`
  <${Confirm}
    title="Pause ${schedule.name}?"
    verb="Pause"
    onClose=${done}
    act=${async (form) => {
      await ask("POST", path(schedule.name, "/pause"), {
        reason: form.get("reason").trim() || null,
      });
      toast(`${schedule.name} is paused.`);
    }}
  >
    <p>Nothing of it fires until somebody resumes it. What falls due meanwhile is not caught up.</p>
    <label for="reason">Why <span class="optional">shown wherever the schedule is</span></label>
    <input id="reason" name="reason" maxlength="200" autocomplete="off" data-first />
  <//>
`;

const Resume = ({ schedule, done }) => html`
  <${Confirm}
    title="Resume ${schedule.name}?"
    verb="Resume"
    onClose=${done}
    act=${async () => {
      const told = await ask("POST", path(schedule.name, "/resume"));
      toast(`${schedule.name} runs again; next ${moment(told.next[0])}.`);
    }}
  >
    <p>It fires again from its next minute on. What fell due while it was paused is not caught up.</p>
    ${schedule.paused_reason && html`<p>It was paused: <q>${schedule.paused_reason}</q></p>`}
  <//>
`;

const Remove = ({ schedule, done, removed }) => html`
  <${Confirm}
    title="Remove ${schedule.name}?"
    verb="Remove"
    danger
    onClose=${done}
    act=${async () => {
      await ask("DELETE", path(schedule.name));
      toast(`${schedule.name} is removed.`);
      removed?.();
    }}
  >
    <p>
      It fires no more from the next minute on. A run in flight ends undisturbed, and its history
      stays. There is no way back but to add it again.
    </p>
  <//>
`;

const DIALOGS = { fire: Fire, pause: Pause, resume: Resume, remove: Remove };

/** The dialog of an action on a schedule; `acting` is `{kind, schedule}` or null. */
export function ActionDialog({ acting, done, removed }) {
  if (acting === null) return null;
  const Shown = DIALOGS[acting.kind];
  return html`<${Shown} schedule=${acting.schedule} done=${done} removed=${removed} />`;
}
