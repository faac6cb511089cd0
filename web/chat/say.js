// Saying something: in a thread, or in a channel, which opens one.
import { ask } from "../api.js";

/** Say `text` at `place`. Answers `{thread, run_id}`; throws a Problem. */
export const say = (place, text) =>
  ask("POST", "/api/chat", {
    channel: place.channel,
    text,
    ...(place.thread && { thread: place.thread }),
  });
