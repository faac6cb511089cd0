// Both kinds of schedule in one table: what, when, how it went, and its strips.
import { html, useMemo, useState } from "../html.js";
import { Delivery, Mark, State } from "../marks.js";
import { Days, Hours } from "../scale.js";
import { Strip } from "../strip.js";
import { distance, duration, full, moment, now, rowClock, sameClock } from "../time.js";
import { lacking } from "./actions.js";

const NONE = [];

/** A schedule's marks in a span, with a last firing that the history does not hold yet. */
export function entriesOf(schedule, span) {
  if (!span) return NONE;
  if (schedule.name === "keep-alive") return span.ticks.map(([place, n]) => [place, "ok", n, 0]);
  const known = span.firings[schedule.name] ?? NONE;
  const { state, claimed_at, coalesced } = schedule.last ?? {};
  if (state !== "claimed_not_started" && state !== "starting") return known;
  const at = (Date.parse(claimed_at) - Date.parse(span.from)) / (span.bucket_s * 1000);
  const place = Math.floor(at);
  const there = known.some((entry) => entry[0] === place && entry[1] === state);
  return there || place < 0 ? known : [...known, [place, state, 1, coalesced]];
}

export function Next({ schedule }) {
  if (!schedule.enabled) return html`<span class="faint">paused</span>`;
  const [next] = schedule.next;
  if (!next) return html`<span class="faint">never</span>`;
  return html`
    <span class="first"><time datetime=${next} title=${full(next)}>${moment(next)}</time></span>
    <span class="second">
      ${distance(next)}${!sameClock(next) && `, ${rowClock(next)} there`}
    </span>
  `;
}

export function Last({ last }) {
  if (!last) return html`<span class="faint">not fired yet</span>`;
  const when = last.due_at ?? last.claimed_at;
  const late = last.due_at ? Date.parse(last.claimed_at) - Date.parse(last.due_at) : 0;
  const facts = [
    html`<time datetime=${when} title=${full(when)}>${moment(when)}</time>`,
    late >= 120_000 && `${duration(late)} late`,
    last.ran_ms !== null && `took ${duration(last.ran_ms)}`,
    last.coalesced > 0 && html`<b class="folded">+${last.coalesced} folded</b>`,
    last.by && `by ${last.by}`,
    last.delivery && html`<${Delivery} delivery=${last.delivery} />`,
  ].filter(Boolean);
  return html`
    <span class="first"><${State} state=${last.state} code=${last.code} /></span>
    <span class="second facts">${facts.map((fact) => html`<span>${fact}</span>`)}</span>
  `;
}

/** How often the ages in a row are told anew, in ms. */
const BEAT = 10_000;

/** One schedule. It is drawn again when something of it changed, and at each beat. */
function Row({ schedule, day, month, grants, act }) {
  const beat = Math.floor(now() / BEAT);
  return useMemo(
    () => drawn(schedule, day, month, grants, act),
    [schedule, day, month, grants, beat],
  );
}

function drawn(schedule, day, month, grants, act) {
  const { name, enabled, kind, last } = schedule;
  const mark =
    last?.state === "claimed_not_started" || enabled ? (last?.state ?? "none") : "paused";
  const writes = lacking(grants, "schedule:write");
  const press = (what, text, why) => html`<button
    class="quiet"
    aria-label="${text} ${name}"
    aria-disabled=${Boolean(why)}
    title=${why}
    onClick=${() => why || act({ kind: what, schedule })}
  >
    ${text}
  </button>`;
  const strip = (span, short, long) =>
    span &&
    html`<b aria-hidden="true">${short}</b>
      <${Strip} span=${span} entries=${entriesOf(schedule, span)} label="${name}, ${long}" />`;
  return html`
    <tr role="row" class=${enabled ? "" : "off"}>
      <th role="rowheader" scope="row">
        <${Mark} state=${mark} />
        <div>
          <a class="first" href="#/${encodeURIComponent(name)}">${name}</a>
          <span class="second">${schedule.describe ?? schedule.cron ?? "cannot be read"}</span>
          ${
            !enabled &&
            html`<span class="second reason">
            paused${schedule.paused_reason ? html`: <q>${schedule.paused_reason}</q>` : ""}
          </span>`
          }
        </div>
      </th>
      <td role="cell" class="next" data-label="Next"><${Next} schedule=${schedule} /></td>
      <td role="cell" class="last" data-label="Last"><${Last} last=${last} /></td>
      <td role="cell" class="strips">
        ${strip(day, "24 h", "24 hours")} ${strip(month, "30 d", "30 days")}
      </td>
      <td role="cell" class="acts">
        ${
          kind === "stored" &&
          html`${press("fire", "Fire", lacking(grants, "schedule:fire"))}
        ${enabled ? press("pause", "Pause", writes) : press("resume", "Resume", writes)}`
        }
      </td>
    </tr>
  `;
}

/** The stored schedules and then those that ship in code, narrowed by what is typed above them. */
export function Table({ schedules, day, month, grants, act, add }) {
  const [wanted, want] = useState("");
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, describe, channel, last, enabled, text }) => {
    const all = [name, describe, channel, text, last?.state, last?.code, enabled ? "" : "paused"];
    const whole = all.join(" ").toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const shown = schedules.filter(fits);
  const groups = [
    ["stored", "Added by people"],
    ["catalog", "Shipped in code"],
  ].map(([kind, title]) => [title, shown.filter((schedule) => schedule.kind === kind)]);
  const stored = schedules.filter(({ kind }) => kind === "stored").length;
  return html`
    <section class="schedules" aria-labelledby="schedules">
      <div class="bar">
        <h2 id="schedules">Schedules <span class="count">${stored}</span></h2>
        <input
          type="search"
          aria-label="Filter the schedules"
          placeholder="Filter: a name, failed, paused …"
          value=${wanted}
          onInput=${(event) => want(event.currentTarget.value)}
        />
        <button
          class="primary"
          aria-disabled=${Boolean(lacking(grants, "schedule:write"))}
          title=${lacking(grants, "schedule:write")}
          onClick=${() => lacking(grants, "schedule:write") || add()}
        >
          Add a schedule
        </button>
      </div>
      <table role="table" aria-labelledby="schedules">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">Schedule</th>
            <th role="columnheader" scope="col">Next</th>
            <th role="columnheader" scope="col">Last firing</th>
            <th role="columnheader" scope="col" class="strips">
              <span class="hidden">Its marks in the last 24 hours and 30 days</span>
              ${day && html`<b>24 h</b><${Hours} span=${day} />`}
              ${month && html`<b>30 d</b><${Days} span=${month} />`}
            </th>
            <th role="columnheader" scope="col"><span class="hidden">Actions</span></th>
          </tr>
        </thead>
        ${groups.map(
          ([title, members]) =>
            members.length > 0 &&
            html`<tbody role="rowgroup" key=${title} aria-label=${title}>
              <tr role="row" class="group"><th role="columnheader" colspan="5">${title}</th></tr>
              ${members.map(
                (schedule) => html`<${Row}
                  key=${schedule.name}
                  schedule=${schedule}
                  day=${day}
                  month=${month}
                  grants=${grants}
                  act=${act}
                />`,
              )}
            </tbody>`,
        )}
      </table>
      ${!shown.length && html`<p class="empty">No schedule has all of: ${words.join(", ")}.</p>`}
    </section>
  `;
}
