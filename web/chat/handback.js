// A command that the bot did not run and gave back: to be copied, and to be confirmed by a person.
import { toast } from "../dialog.js";
import { html, useState } from "../html.js";
import { duration, now } from "../time.js";
import { visible } from "../visible.js";

const LIFETIME_MS = 10 * 60_000;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("The command is copied.");
  } catch {
    toast("The browser does not let this page copy. Select the command and copy it.", true);
  }
}

/** Who took a hand-back up in a later message of the thread, or undefined. */
export const takenUpBy = (messages, { seq, outcome }) => {
  const { command, code } = outcome.handback;
  const taken = code
    ? ({ author, text }) =>
        author === outcome.actor && text.trim().toUpperCase() === `CONFIRM ${code}`
    : ({ text }) => text.trim() === command;
  return messages.find((later) => later.seq > seq && later.author !== "bot" && taken(later))
    ?.author;
};

/** What stands under a hand-back, and the button with which somebody can take it up now. */
function standing({ outcome, at }, takenUp, actor) {
  const { code } = outcome.handback;
  if (!code) {
    // It may have been refused to whoever ran it, so others can still run it.
    if (takenUp) return { text: `${takenUp} ran it.`, verb: `Run again as ${actor}`, again: true };
    const text = "Somebody who holds the grants can run it, as themselves.";
    return { text, verb: `Confirm as ${actor}` };
  }
  if (takenUp) return { text: "Confirmed." };
  const left = Date.parse(at) + LIFETIME_MS - now();
  if (left <= 0) return { text: "It was not confirmed within ten minutes. Ask again." };
  return actor === outcome.actor
    ? { text: `It can be confirmed once, for ${duration(left)}.`, verb: "Confirm" }
    : { text: `Only ${outcome.actor} can confirm it.` };
}

export function Handback({ message, takenUp, actor, send }) {
  const [busy, work] = useState(false);
  const [problem, tell] = useState(null);
  const { command, code } = message.outcome.handback;
  const { text, verb, again } = standing(message, takenUp, actor);
  const press = async () => {
    if (busy) return;
    work(true);
    tell(null);
    try {
      await send(code ? `confirm ${code}` : command);
    } catch (error) {
      tell(error);
    }
    work(false);
  };
  return html`
    <div class="handback">
      <p>
        ${
          code
            ? "Nothing was written yet. This is what would run:"
            : "Nothing was written: a schedule may not write. This is what it asked for:"
        }
      </p>
      <pre tabindex="0" dir="auto"><code>${visible(command)}</code></pre>
      <div class="bar">
        <button onClick=${() => copy(command)}>Copy</button>
        ${
          verb &&
          html`<button class=${again ? "" : "primary"} aria-disabled=${busy} onClick=${press}>
          ${verb}
        </button>`
        }
        <span class="second">${text}</span>
      </div>
      ${problem && html`<p class="problem" role="alert">${problem.detail}</p>`}
    </div>
  `;
}
