// The viewer's own jobs, and the ring of what they were told. Only where the bot has jobs.
import { ask } from "../api.js";
import { Confirm, toast } from "../dialog.js";
import { html, useState } from "../html.js";
import { Mark, State } from "../marks.js";
import { usePoll } from "../poll.js";
import { distance, full, moment } from "../time.js";
import { visible } from "../visible.js";

const SHOWN = 8;
const KINDS = { job_result: "ok", job_error: "failed", job_abandoned: "skipped_stale" };

const Delete = ({ job, done, refresh }) => html`
  <${Confirm}
    title="Delete ${job.name}?"
    verb="Delete"
    danger
    onClose=${done}
    act=${async () => {
      await ask("DELETE", `/api/jobs?${new URLSearchParams({ id: job.id })}`);
      toast(`${job.name} is deleted.`);
      await refresh();
    }}
  >
    <p>It fires no more. What it told you stays.</p>
  <//>
`;

function Job({ job, remove }) {
  const [next] = job.next;
  return html`
    <li class=${job.enabled ? "job" : "job off"}>
      <${Mark} state=${job.enabled ? (job.last?.state ?? "none") : "paused"} />
      <div class="what">
        <b dir="auto">${job.name}</b>
        <p class="second">
          ${job.describe}${next && `, next ${moment(next)} (${distance(next)})`}${!job.enabled && ", off"}
        </p>
        <p class="prompt" dir="auto">${visible(job.prompt)}</p>
      </div>
      <div class="how">
        ${
          job.last
            ? html`<${State} state=${job.last.state} code=${job.last.code} />
              <span class="second" title=${full(job.last.claimed_at)}>
                ${moment(job.last.claimed_at)}${job.last.push && `, push ${job.last.push}`}
              </span>`
            : html`<span class="faint">not fired yet</span>`
        }
      </div>
      <button class="quiet" aria-label="Delete ${job.name}" onClick=${() => remove(job)}>
        Delete
      </button>
    </li>
  `;
}

const Event = ({ event }) => html`
  <li>
    <${Mark} state=${KINDS[event.kind] ?? "none"} />
    <span class="said" dir="auto">${event.text}</span>
    <time class="second" datetime=${event.at} title=${full(event.at)}>${moment(event.at)}</time>
  </li>
`;

export function Jobs() {
  const jobs = usePoll("/api/jobs", 10_000);
  const events = usePoll("/api/events", 10_000);
  const [leaving, leave] = useState(null);
  const [whole, showAll] = useState(false);
  const failed = jobs.error?.status;
  if (failed === 404 || failed === 403) return null;
  if (!jobs.data) return null;
  const told = [...(events.data?.events ?? [])].reverse();
  const shown = whole ? told : told.slice(0, SHOWN);
  return html`
    <section class="jobs" aria-labelledby="jobs">
      <h2 id="jobs">Your jobs <span class="count">${jobs.data.jobs.length}</span></h2>
      ${
        jobs.data.jobs.length
          ? html`<ul class="list">
            ${jobs.data.jobs.map((job) => html`<${Job} key=${job.id} job=${job} remove=${leave} />`)}
          </ul>`
          : html`<p class="empty">
            None yet. Say it in <a href="/chat/">chat</a>, such as${" "}
            <code>job add stretch every 2h: remind me to stretch</code>
          </p>`
      }
      ${
        told.length > 0 &&
        html`<h3>What they told you</h3>
        <ul class="ring">
          ${shown.map((event) => html`<${Event} key=${event.seq} event=${event} />`)}
        </ul>
        ${
          told.length > SHOWN &&
          html`<button class="quiet" aria-expanded=${whole} onClick=${() => showAll(!whole)}>
          ${whole ? "Show fewer" : `Show all ${told.length}`}
        </button>`
        }`
      }
      ${
        leaving &&
        html`<${Delete} job=${leaving} done=${() => leave(null)} refresh=${jobs.refresh} />`
      }
    </section>
  `;
}
