// The way in: a page of its own for who comes new, a dialog over the page when a session has ended.
import { Dialog } from "./dialog.js";
import { Emblem } from "./emblem.js";
import { html, useId, useState } from "./html.js";
import { putOff, signIn } from "./session.js";

function TokenForm({ cancel }) {
  const [problem, tell] = useState(null);
  const [busy, work] = useState(false);
  const field = useId();
  const submit = async (event) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get("token").trim();
    if (busy || !token) return;
    work(true);
    try {
      await signIn(token);
    } catch (error) {
      tell(error);
      work(false);
    }
  };
  return html`
    <form onSubmit=${submit}>
      <label for=${field}>Token</label>
      <input
        id=${field}
        name="token"
        type="password"
        autocomplete="current-password"
        spellcheck="false"
        required
        data-first
        aria-describedby=${problem ? `${field}-problem` : undefined}
        aria-invalid=${problem ? "true" : undefined}
      />
      ${
        problem && html`<p class="problem" role="alert" id="${field}-problem">${problem.detail}</p>`
      }
      <div class="buttons">
        ${cancel && html`<button type="button" onClick=${cancel}>Not now</button>`}
        <button class="primary" aria-disabled=${busy}>Sign in</button>
      </div>
    </form>
  `;
}

/** What somebody sees who is not signed in. */
export const Welcome = ({ error }) => html`
  <main class="welcome">
    <${Emblem} />
    <h1>Standing Orders</h1>
    <p class="lede">
      A bot that your team tells what to do and when, in one sentence. It fires each due minute once,
      with exactly the authority that was written down for it, and shows what fired and what did not.
    </p>
    ${error && html`<p class="problem" role="alert">${error.detail}</p>`}
    <${TokenForm} />
    <p class="hint">
      Started it yourself? <code>make run</code> prints an <i>admin token</i>: paste it here. Otherwise
      ask whoever runs the bot for yours, one of <code>INGRESS_TOKENS</code>.
    </p>
  </main>
`;

/** The question over the page when a session has ended. What was typed there stays. */
export const SessionEnded = () => html`
  <${Dialog} title="Your session has ended" onClose=${putOff}>
    <p>Sign in again to go on. Nothing that you typed is lost.</p>
    <${TokenForm} cancel=${putOff} />
  <//>
`;
