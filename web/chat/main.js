// The chat: channels and their threads at one side, one thread at the other.
import { open } from "../frame.js";
import { html, useEffect, useState } from "../html.js";
import { usePoll } from "../poll.js";
import { placeIn } from "./place.js";
import { Thread } from "./thread.js";
import { Threads } from "./threads.js";

/** The channel or the thread that the page's address names. */
function usePlace() {
  const [place, move] = useState(() => placeIn(location.hash));
  useEffect(() => {
    const change = () => move(placeIn(location.hash));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return place;
}

function Chat({ session }) {
  const channels = usePoll("/api/channels", 600_000);
  const commands = usePoll("/api/commands", 600_000);
  const named = usePlace();
  const own = `web:@${session.actor.split(":")[1]}`;
  const first = channels.data?.channels[0]?.id ?? null;
  const place = named ?? (first && { channel: first, thread: null });
  useEffect(() => {
    document.title = `${place ? place.channel : "Chat"} · Standing Orders`;
  }, [place?.channel]);
  if (channels.error && !channels.data) {
    return html`<main id="content" class="chat" tabindex="-1">
      <p class="problem" role="alert">${channels.error.detail}</p>
    </main>`;
  }
  if (!channels.data)
    return html`<main id="content" class="chat" aria-busy="true" tabindex="-1"></main>`;
  return html`
    <main id="content" class=${place.thread ? "chat reading" : "chat"} tabindex="-1">
      <${Threads} channels=${channels.data.channels} own=${own} place=${place} />
      <${Thread}
        key=${place.thread ?? place.channel}
        place=${place}
        session=${session}
        own=${own}
        commands=${commands.data?.commands ?? []}
      />
    </main>
  `;
}

open("chat", Chat);
