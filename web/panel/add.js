// Adding a schedule: what it would mean is shown while it is typed, and what is refused stands
// beside its field.
import { ask } from "../api.js";
import { Dialog, toast } from "../dialog.js";
import { html, useEffect, useId, useMemo, useState } from "../html.js";
import { distance, moment, rowClock, sameClock } from "../time.js";
import { visible } from "../visible.js";

const EMPTY = {
  name: "",
  cron: "",
  zone: "",
  channel: "",
  thread: "new",
  text: "",
  grants: "",
  window: "",
};

/** Attributes of a field that takes no prose. */
const PLAIN = { autocomplete: "off", spellcheck: false };

/** Which field a refusal belongs to, by its code. */
const FIELD_OF = {
  bad_name: "name",
  schedule_exists: "name",
  bad_cron: "cron",
  never_fires: "cron",
  bad_zone: "zone",
  no_channel: "channel",
  channel_cannot_open_thread: "channel",
  bad_thread: "thread",
  bad_text: "text",
  bad_grant: "grants",
  grant_not_held: "grants",
  bad_window: "window",
};
const CRONS = [
  ["*/15 * * * *", "every 15 minutes"],
  ["0 * * * *", "hourly"],
  ["0 3 * * *", "nightly at 03:00"],
  ["0 9 * * MON-FRI", "weekdays at 09:00"],
  ["0 9 L * *", "last of the month"],
];

/**
 * What was typed and not added yet: it is there again when the dialog is opened again, also after
 * a reload.
 */
const DRAFT = "draft schedule";
const keepDraft = (fields) => sessionStorage.setItem(DRAFT, JSON.stringify(fields));
const drafted = () => ({ ...EMPTY, ...JSON.parse(sessionStorage.getItem(DRAFT)) });

/** Fill the dialog in before it is opened. */
export const setDraft = (fields) => keepDraft(fields);

const list = (text) =>
  text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);

/** The same schedule as it is written in chat. */
export function inChat({ name, cron, channel, thread, zone, window, grants, text }) {
  const parts = [`schedule add ${name || "NAME"} "${cron || "CRON"}" in ${channel || "CHANNEL"}`];
  if (thread === "standing") parts.push("thread standing");
  if (zone) parts.push(`zone ${zone}`);
  if (window) parts.push(`window ${window}`);
  if (list(grants).length) parts.push(`grants ${list(grants).join(", ")}`);
  return `${parts.join(" ")}: ${text || "TEXT"}`;
}

/**
 * What the bot says that an expression means: `{data}` or `{problem}`, asked for a quarter of a
 * second after the typing. What it said of other words is kept as long as it was no problem.
 */
function usePreview(cron, zone) {
  const [said, keep] = useState({});
  useEffect(() => {
    if (!cron.trim()) return undefined;
    let stale = false;
    const timer = setTimeout(async () => {
      const query = new URLSearchParams({ cron, n: "5", ...(zone && { zone }) });
      try {
        const data = await ask("GET", `/admin/schedules/preview?${query}`);
        if (!stale) keep({ cron, zone, data });
      } catch (problem) {
        if (!stale) keep({ cron, zone, problem });
      }
    }, 250);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [cron, zone]);
  if (!cron.trim()) return {};
  return said.cron === cron && said.zone === zone ? said : { data: said.data };
}

function Field({ label, name, hint, problem, optional, children }) {
  return html`
    <div class="field ${name}">
      <label for="add-${name}">
        ${label}${optional && html` <span class="optional">optional</span>`}
      </label>
      ${children}
      ${hint && html`<p class="hint" id="add-${name}-hint">${hint}</p>`}
      ${
        problem &&
        html`<p class="problem" role="alert" id="add-${name}-problem">${problem.detail}</p>`
      }
    </div>
  `;
}

function Preview({ preview, typed }) {
  const { data, problem } = preview;
  return html`
    <section class="preview" aria-live="polite" aria-label="What this means">
      ${
        data
          ? html`<p class="means">Runs <b>${data.describe}</b></p>
            <ol>
              ${data.next.map(
                (at) => html`<li key=${at}>
                  <time datetime=${at}>${moment(at)}</time>
                  <span>${distance(at)}${!sameClock(at) && `, ${rowClock(at)} there`}</span>
                </li>`,
              )}
            </ol>`
          : html`<p class="means faint">
            ${
              problem
                ? FIELD_OF[problem.code]
                  ? "There are no next fires: what is wrong stands beside its field."
                  : problem.detail
                : "Type when it should run to see its next fires."
            }
          </p>`
      }
      <p class="chat-form"><span>The same in chat</span><code>${visible(inChat(typed))}</code></p>
    </section>
  `;
}

export function Add({ channels, onClose, onAdded }) {
  const [typed, type] = useState(drafted);
  const [refusal, refuse] = useState(null);
  const [busy, work] = useState(false);
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone"), []);
  const id = useId();
  const preview = usePreview(typed.cron, typed.zone);
  useEffect(() => keepDraft(typed), [typed]);

  const set = (name) => (event) => {
    type({ ...typed, [name]: event.currentTarget.value });
    if (refusal && FIELD_OF[refusal.code] === name) refuse(null);
  };
  const problems = {};
  const previewed = FIELD_OF[preview.problem?.code];
  if (previewed) problems[previewed] = preview.problem;
  if (refusal && FIELD_OF[refusal.code]) problems[FIELD_OF[refusal.code]] = refusal;
  const about = (name, hinted) => ({
    id: `add-${name}`,
    name,
    value: typed[name],
    onInput: set(name),
    "aria-invalid": problems[name] ? "true" : undefined,
    "aria-describedby":
      [hinted && `add-${name}-hint`, problems[name] && `add-${name}-problem`]
        .filter(Boolean)
        .join(" ") || undefined,
  });

  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    work(true);
    refuse(null);
    try {
      const { zone, window, grants, ...rest } = typed;
      const added = await ask("POST", "/admin/schedules", {
        ...rest,
        zone: zone.trim() || null,
        window: window.trim() || null,
        grants: list(grants),
      });
      keepDraft(EMPTY);
      toast(`${added.name} is added: ${added.describe}.`);
      onAdded(added);
      onClose();
    } catch (problem) {
      refuse(problem);
      work(false);
      form.elements[FIELD_OF[problem.code]]?.focus?.();
    }
  };

  return html`
    <${Dialog} title="Add a schedule" onClose=${onClose} wide>
      <form class="add" onSubmit=${submit} aria-labelledby=${id}>
        <div class="fields">
          <${Field} label="Name" name="name" problem=${problems.name}>
            <input ...${about("name")} ...${PLAIN} required maxlength="63" data-first
              placeholder="nightly-audit" />
          <//>
          <${Field} label="When" name="cron" problem=${problems.cron}
            hint="Five cron fields: minute, hour, day, month, weekday.">
            <input ...${about("cron", true)} ...${PLAIN} required placeholder="0 3 * * *" />
            <div class="chips">
              ${CRONS.map(
                ([cron, words]) => html`<button
                  type="button" key=${cron} onClick=${() => type({ ...typed, cron })}
                >${words}</button>`,
              )}
            </div>
          <//>
          <${Field} label="Time zone" name="zone" problem=${problems.zone} optional
            hint="Empty is the organisation's.">
            <input ...${about("zone", true)} ...${PLAIN} list="${id}-zones"
              placeholder=${Intl.DateTimeFormat().resolvedOptions().timeZone} />
            <datalist id="${id}-zones">
              ${zones.map((zone) => html`<option value=${zone} />`)}
            </datalist>
          <//>
          <${Field} label="Channel" name="channel" problem=${problems.channel}>
            <input ...${about("channel")} ...${PLAIN} required list="${id}-channels"
              placeholder=${channels[0]?.id ?? "web:general"} />
            <datalist id="${id}-channels">
              ${channels.map((channel) => html`<option value=${channel.id} />`)}
            </datalist>
          <//>
          <fieldset class="field thread">
            <legend>Thread</legend>
            ${[
              ["new", "A new one each time"],
              ["standing", "One standing thread"],
            ].map(
              ([value, words]) => html`<label key=${value}>
                <input type="radio" name="thread" value=${value} checked=${typed.thread === value}
                  onChange=${set("thread")} /> ${words}
              </label>`,
            )}
          </fieldset>
          <${Field} label="Window" name="window" problem=${problems.window} optional
            hint="A due minute older than this is skipped, such as 2h.">
            <input ...${about("window", true)} autocomplete="off" placeholder="2h" />
          <//>
          <${Field} label="What it does" name="text" problem=${problems.text}
            hint="A command, such as “advisories in acme/api”, or plain words.">
            <textarea ...${about("text", true)} required rows="3" maxlength="4000"></textarea>
          <//>
          <${Field} label="Grants" name="grants" problem=${problems.grants} optional
            hint="What it may do, and nothing else: one a line, and only what you hold.">
            <textarea ...${about("grants", true)} rows="2" spellcheck="false"
              placeholder="agent:run:research on acme/api"></textarea>
          <//>
        </div>
        <${Preview} preview=${preview} typed=${typed} />
        ${
          refusal &&
          !FIELD_OF[refusal.code] &&
          html`<p class="problem" role="alert">${refusal.detail}</p>`
        }
        <div class="buttons">
          <button type="button" onClick=${onClose}>Cancel</button>
          <button class="primary" aria-disabled=${busy}>Add</button>
        </div>
      </form>
    <//>
  `;
}
