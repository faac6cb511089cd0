// One schedule's page: what it is, its strips, and every firing with its run.
import { at, ask } from "../api.js";
import { Fragment, html, useEffect, useMemo, useRef, useState } from "../html.js";
import { Delivery, State } from "../marks.js";
import { usePoll } from "../poll.js";
import { Days, Hours } from "../scale.js";
import { Strip } from "../strip.js";
import { distance, duration, full, moment, rowClock, sameClock } from "../time.js";
import { visible } from "../visible.js";
import { lacking } from "./actions.js";
import { Attention } from "./attention.js";
import { Run } from "./run.js";
import { entriesOf } from "./table.js";

const PAGE = 25;

const Fact = ({ name, children }) =>
  html`<div><dt>${name}</dt><dd dir="auto">${children}</dd></div>`;

function Facts({ schedule }) {
  const { channel, next } = schedule;
  const web = channel?.startsWith("web:");
  return html`
    <dl class="facts">
      <${Fact} name="Runs">${schedule.describe ?? "cannot be read"}<//>
      <${Fact} name="Cron"><code>${schedule.cron}</code> in ${schedule.zone}<//>
      <${Fact} name="Next">
        ${
          next.length
            ? next.map(
                (each, n) => html`<${Fragment} key=${each}>
                ${n > 0 && ", "}
                <time datetime=${each} title=${full(each)}>
                  ${moment(each)}${!sameClock(each) && ` (${rowClock(each)} there)`}
                </time>
              <//>`,
              )
            : "nothing while it is paused"
        }
      <//>
      ${
        channel &&
        html`<${Fact} name="Answers in">
        ${web ? html`<a href="/chat/#${encodeURIComponent(channel)}">${channel}</a>` : channel},
        ${schedule.thread === "standing" ? " one standing thread" : " a new thread each time"}
      <//>`
      }
      <${Fact} name="May do">${schedule.grants.join(", ") || "nothing that needs a grant"}<//>
      ${schedule.window && html`<${Fact} name="Window">${schedule.window}<//>`}
      ${
        schedule.created_by &&
        html`<${Fact} name="Added">by ${schedule.created_by}, ${moment(schedule.created_at)}<//>`
      }
    </dl>
    ${schedule.text && html`<pre class="asked" dir="auto">${visible(schedule.text)}</pre>`}
  `;
}

function Firing({ firing, open, toggle }) {
  const { due_at, claimed_at, run_id } = firing;
  const late = due_at ? Date.parse(claimed_at) - Date.parse(due_at) : 0;
  const details = `run-${run_id}`;
  return html`
    <${Fragment}>
      <tr role="row" class=${open ? "open" : ""}>
        <td role="cell" data-label="Due">
          ${
            due_at
              ? html`<time datetime=${due_at} title=${full(due_at)}>${moment(due_at)}</time>
                ${!sameClock(due_at) && html`<span class="second">${rowClock(due_at)} there</span>`}`
              : html`<span class="faint">by hand</span>`
          }
        </td>
        <td role="cell" data-label="Claimed">
          <time datetime=${claimed_at} title=${full(claimed_at)}>${moment(claimed_at)}</time>
          ${late >= 120_000 && html`<span class="second">${duration(late)} late</span>`}
        </td>
        <td role="cell" data-label="State">
          <${State} state=${firing.state} code=${firing.code} />
        </td>
        <td role="cell" data-label="Trigger">
          ${firing.trigger}${firing.by && html`<span class="second">by ${firing.by}</span>`}
        </td>
        <td role="cell" data-label="Delivery"><${Delivery} delivery=${firing.delivery} /></td>
        <td role="cell" data-label="Folded" class="number">${firing.coalesced || ""}</td>
        <td role="cell" data-label="Took" class="number">
          ${firing.ran_ms !== null && duration(firing.ran_ms)}
        </td>
        <td role="cell">
          ${
            run_id &&
            html`<button class="quiet" aria-expanded=${open} aria-controls=${details} onClick=${toggle}>
            ${open ? "Hide" : "Output"}<span class="hidden"> of ${moment(due_at ?? claimed_at)}</span>
          </button>`
          }
        </td>
      </tr>
      ${
        open &&
        html`<tr role="row" class="details" id=${details}>
        <td role="cell" colspan="8"><${Run} id=${run_id} /></td>
      </tr>`
      }
    <//>
  `;
}

const COLUMNS = ["Due", "Claimed", "State", "Trigger", "Delivery", "Folded", "Took"];

/** A firing's own key: a due minute has one, whatever becomes of it; a run by hand has none. */
const keyOf = ({ run_id, due_at, claimed_at }) => due_at ?? run_id ?? claimed_at;

/** Two lists of firings in one, without what the second repeats of the first. */
function joined(firings, others) {
  const known = new Set(firings.map(keyOf));
  return [...firings, ...others.filter((firing) => !known.has(keyOf(firing)))];
}

function History({ name }) {
  const newest = usePoll(at`/admin/schedules/${name}/firings` + `?limit=${PAGE}`, 5000);
  // Everything seen so far, in the bot's own order: the newest page moves on as things fire.
  const seen = useRef([]);
  const [more, setMore] = useState(null);
  const [open, show] = useState(null);
  const first = newest.data?.firings;
  if (!first) {
    return newest.error
      ? html`<p class="problem" role="alert">${newest.error.detail}</p>`
      : html`<p class="loading">Reading its history …</p>`;
  }
  seen.current = joined(first, seen.current);
  const firings = seen.current;
  const readOn = async () => {
    const before = new Date(firings.at(-1).claimed_at).toISOString();
    const query = new URLSearchParams({ limit: String(PAGE), before });
    const told = await ask("GET", at`/admin/schedules/${name}/firings` + `?${query}`);
    seen.current = joined(seen.current, told.firings);
    setMore(told.firings.length === PAGE);
  };
  if (!firings.length) return html`<p class="empty">It has not fired yet.</p>`;
  return html`
    <table role="table" class="history" aria-labelledby="history">
      <thead role="rowgroup">
        <tr role="row">
          ${COLUMNS.map(
            (title) => html`<th role="columnheader" scope="col" key=${title}>${title}</th>`,
          )}
          <th role="columnheader" scope="col"><span class="hidden">Its run</span></th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${firings.map((firing) => {
          const key = keyOf(firing);
          return html`<${Firing}
            key=${key}
            firing=${firing}
            open=${open === key}
            toggle=${() => show(open === key ? null : key)}
          />`;
        })}
      </tbody>
    </table>
    ${
      (more ?? first.length === PAGE) &&
      html`<button class="more" onClick=${readOn}>Show older firings</button>`
    }
  `;
}

/** The page of `name`; `schedule` is undefined where there is none of that name. */
export function Page({ name, schedule, day, month, grants, act, refresh }) {
  useEffect(() => {
    document.title = `${name} · Standing Orders`;
    return () => (document.title = "Standing Orders");
  }, [name]);
  const dayEntries = useMemo(() => schedule && entriesOf(schedule, day), [schedule, day]);
  const monthEntries = useMemo(() => schedule && entriesOf(schedule, month), [schedule, month]);
  if (!schedule) {
    return html`<section class="page">
      <a class="back" href="#/">All schedules</a>
      <h1 dir="auto">${name}</h1>
      <p class="empty">There is no schedule of that name.</p>
    </section>`;
  }
  const button = (kind, text, action, look = "") => {
    const why = lacking(grants, action);
    return html`<button
      class=${look}
      aria-disabled=${Boolean(why)}
      title=${why}
      onClick=${() => why || act({ kind, schedule })}
    >
      ${text}
    </button>`;
  };
  return html`
    <section class="page" aria-labelledby="page">
      <a class="back" href="#/">All schedules</a>
      <div class="bar">
        <h1 id="page" dir="auto">${name}</h1>
        ${
          schedule.last
            ? html`<${State} state=${schedule.last.state} code=${schedule.last.code} />`
            : html`<span class="faint">not fired yet</span>`
        }
        ${
          schedule.kind === "stored" &&
          html`<div class="buttons">
          ${button("fire", "Fire", "schedule:fire")}
          ${
            schedule.enabled
              ? button("pause", "Pause", "schedule:write")
              : button("resume", "Resume", "schedule:write", "primary")
          }
          ${button("remove", "Remove", "schedule:write", "danger")}
        </div>`
        }
      </div>
      ${
        !schedule.enabled &&
        html`<p class="banner">
        Paused${schedule.paused_reason && html`: <q>${schedule.paused_reason}</q>`}. Nothing of it
        fires.
      </p>`
      }
      <${Attention} schedules=${[schedule]} grants=${grants} refresh=${refresh} />
      <${Facts} schedule=${schedule} />
      <div class="pair">
        ${
          day &&
          html`<figure>
          <figcaption>Last 24 hours</figcaption>
          <${Strip} span=${day} entries=${dayEntries} label="${name}, 24 hours" tall />
          <${Hours} span=${day} />
        </figure>`
        }
        ${
          month &&
          html`<figure>
          <figcaption>Last 30 days</figcaption>
          <${Strip} span=${month} entries=${monthEntries} label="${name}, 30 days" tall />
          <${Days} span=${month} />
        </figure>`
        }
      </div>
      <h2 id="history">Firings</h2>
      <${History} name=${name} />
    </section>
  `;
}
