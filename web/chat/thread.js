// One thread, or the beginning of one: its messages, what runs in it, and the composer.
import { ask, at } from "../api.js";
import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { hasten, usePoll } from "../poll.js";
import { Composer } from "./composer.js";
import { Message } from "./message.js";
import { hashOf, titleOf } from "./place.js";
import { Progress } from "./progress.js";
import { say } from "./say.js";

const EXAMPLES = ["help", "schedule list", "whoami", "advisories in acme/api"];

/** A thread's messages with those read on from before its first page. */
function useThread(key) {
  const [quick, hurry] = useState(false);
  const path = key && at`/api/threads/${key}`;
  const { data, error, refresh } = usePoll(path, quick ? 1000 : 4000);
  const [older, keep] = useState({ messages: [], more: null });
  useEffect(() => {
    hurry(Boolean(data?.live));
    hasten("/api/threads?");
  }, [data?.live?.id]);
  const first = data?.messages[0]?.seq;
  const messages = data
    ? [...older.messages.filter(({ seq }) => seq < first), ...data.messages]
    : [];
  const readOn = async () => {
    const before = messages[0].seq;
    const told = await ask("GET", `${path}?before=${before}`);
    keep({ messages: [...told.messages, ...older.messages], more: told.more });
  };
  return { data, error, refresh, messages, more: older.more ?? data?.more, readOn };
}

const sizeOf = ({ clientWidth, clientHeight }) => `${clientWidth} ${clientHeight}`;

/** Keep a scrolled element at its end while the reader is there, also as its size changes. */
function useEnd(marks) {
  const box = useRef(null);
  const atEnd = useRef(true);
  const size = useRef("");
  const note = useCallback(() => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    // A change of size scrolls too, and is no sign that the reader went elsewhere.
    if (size.current !== sizeOf(box.current)) return;
    atEnd.current = scrollHeight - scrollTop - clientHeight < 80;
  }, []);
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const stay = () => {
      size.current = sizeOf(box.current);
      if (atEnd.current) box.current.scrollTop = box.current.scrollHeight;
    };
    stay();
    const watch = new ResizeObserver(stay);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, marks);
  return [box, note];
}

export function Thread({ place, session, own, commands }) {
  const { data, error, refresh, messages, more, readOn } = useThread(place.thread);
  const live = data?.live ?? null;
  const [box, note] = useEnd([messages.length, live?.id, place.thread]);
  const send = async (text) => {
    const { thread } = await say(place, text);
    if (!place.thread) location.hash = hashOf(thread);
    await refresh();
    hasten("/api/threads?");
  };
  const missing = error && !data;
  const [heading, rest] = place.thread
    ? titleOf(data?.title ?? (missing ? "This thread cannot be read" : "…"))
    : ["New thread", ""];
  return html`
    <section class="thread" aria-label=${data?.title ?? "New thread"}>
      <header class="bar">
        ${place.thread && html`<a class="back" href=${hashOf(place.channel)}>${place.channel}</a>`}
        <h1><bdi>${heading}</bdi></h1>
        <bdi class="second">${rest}</bdi>
        <span class="second">${place.channel === own ? "only you read this" : place.channel}</span>
      </header>
      <div class="messages" ref=${box} onScroll=${note} role="log" tabindex="0" aria-label="Messages">
        ${missing && html`<p class="problem" role="alert">${error.detail}</p>`}
        ${
          !place.thread &&
          place.channel !== own &&
          html`<div class="begin">
          <p>
            Say it in plain words, or as a command. What only reads runs at once; what would write is
            handed back to you first.
          </p>
          <ul>
            ${EXAMPLES.map(
              (text) => html`<li key=${text}>
                <button class="quiet" onClick=${() => send(text)}><code>${text}</code></button>
              </li>`,
            )}
          </ul>
        </div>`
        }
        ${more && html`<button class="more" onClick=${readOn}>Show earlier messages</button>`}
        ${messages.map(
          (message) => html`<${Message}
            key=${message.id}
            message=${message}
            messages=${messages}
            actor=${session.actor}
            send=${send}
          />`,
        )}
        ${live && html`<${Progress} key=${live.id} live=${live} session=${session} />`}
      </div>
      ${
        (place.thread || place.channel !== own) &&
        !missing &&
        html`<${Composer}
        place=${place}
        commands=${commands}
        busy=${Boolean(live)}
        send=${send}
        replies=${Boolean(place.thread)}
      />`
      }
    </section>
  `;
}
