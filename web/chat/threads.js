// The channels, and the threads of the one that is open, the last changed first.
import { classes, html } from "../html.js";
import { Mark } from "../marks.js";
import { usePoll } from "../poll.js";
import { full, moment } from "../time.js";
import { hashOf, titleOf } from "./place.js";

const Channel = ({ id, name, here }) => html`
  <li>
    <a href=${hashOf(id)} aria-current=${here ? "true" : undefined}>${name}</a>
  </li>
`;

function Item({ thread, here }) {
  const [name, rest] = titleOf(thread.title);
  return html`<li>
    <a
      class=${classes("thread-link", thread.live && "live")}
      href=${hashOf(thread.key)}
      aria-current=${here ? "true" : undefined}
    >
      <bdi class="title">${name}</bdi>
      ${rest && html`<bdi class="rest second">${rest}</bdi>`}
      <span class="second">
        ${thread.live && html`<${Mark} state="running" /><span>running, </span>`}
        <time datetime=${thread.updated_at} title=${full(thread.updated_at)}>
          ${moment(thread.updated_at)}
        </time>
      </span>
    </a>
  </li>`;
}

const EMPTY = "No thread yet. Say something to begin one.";
const EMPTY_OWN = "Your jobs answer here, except those that you made in a thread: they answer in it.";

export function Threads({ channels, own, place }) {
  const { data, error } = usePoll(
    `/api/threads?channel=${encodeURIComponent(place.channel)}&limit=100`,
    5000,
  );
  const threads = data?.threads;
  return html`
    <nav class="threads" aria-label="Channels and threads">
      <ul class="channels">
        ${channels.map(
          ({ id, name }) =>
            html`<${Channel} key=${id} id=${id} name=${name} here=${id === place.channel} />`,
        )}
        <${Channel} id=${own} name="Just you" here=${own === place.channel} />
      </ul>
      ${
        place.channel !== own &&
        html`<a
          class="new"
          href=${hashOf(place.channel)}
          aria-current=${place.thread ? undefined : "true"}
        >
          New thread
        </a>`
      }
      ${error && !threads && html`<p class="problem" role="alert">${error.detail}</p>`}
      ${
        threads?.length === 0 &&
        html`<p class="empty">
        ${place.channel === own ? EMPTY_OWN : EMPTY}
      </p>`
      }
      <ul class="list">
        ${threads?.map(
          (thread) =>
            html`<${Item} key=${thread.key} thread=${thread} here=${thread.key === place.thread} />`,
        )}
      </ul>
    </nav>
  `;
}
