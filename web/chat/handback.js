// A command that the bot did not run and gave back: to be copied, and to be confirmed by a person.
import { toast } from "../dialog.js";
import { html, useState } from "../html.js";
import { duration, now } from "../time.js";

const LIFETIME_MS = 10 * 60_000;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("The command is copied.");
  } catch {
    toast("The browser does not let this page copy. Select the command and copy it.", true);
  }
}

/** Whether somebody confirmed a code in a later message of the thread. */
export const isConfirmed = (messages, message, code) =>
  messages.some(
    ({ seq, text, author }) =>
      seq > message.seq &&
      author === message.outcome.actor &&
      text.trim().toUpperCase() === `CONFIRM ${code}`,
  );

/** What stands under a hand-back: who can do what with it now. */
function standing({ outcome, at }, confirmed, actor) {
  const { code } = outcome.handback;
  if (!code) return { text: "Somebody who holds the grants can run it, as themselves.", act: true };
  if (confirmed) return { text: "Confirmed.", act: false };
  const left = Date.parse(at) + LIFETIME_MS - now();
  if (left <= 0) return { text: "It was not confirmed within ten minutes. Ask again.", act: false };
  return actor === outcome.actor
    ? { text: `It can be confirmed once, for ${duration(left)}.`, act: true }
    : { text: `Only ${outcome.actor} can confirm it.`, act: false };
}

export function Handback({ message, confirmed, actor, send }) {
  const [busy, work] = useState(false);
  const [problem, tell] = useState(null);
  const { command, code } = message.outcome.handback;
  const { text, act } = standing(message, confirmed, actor);
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
      <pre tabindex="0" dir="auto"><code>${command}</code></pre>
      <div class="bar">
        <button onClick=${() => copy(command)}>Copy</button>
        ${
          act &&
          html`<button class="primary" aria-disabled=${busy} onClick=${press}>
          ${code ? "Confirm" : `Confirm as ${actor}`}
        </button>`
        }
        <span class="second">${text}</span>
      </div>
      ${problem && html`<p class="problem" role="alert">${problem.detail}</p>`}
    </div>
  `;
}
