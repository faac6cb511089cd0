// What a newcomer sees while nothing is scheduled: what to do first.
import { html } from "../html.js";

const STEPS = [
  [
    "Add a schedule",
    html`Say what, when and where. While you type, the bot says what it understood.`,
  ],
  [
    "See it fire",
    html`Each due minute becomes a mark here within ten seconds, and a thread in${" "}
      <a href="/chat/">chat</a>.`,
  ],
  [
    "Meet a refusal",
    html`A schedule may not write. One that says <code>schedule pause …</code> is refused, and hands
      the command back in its thread for you to confirm.`,
  ],
];

export const Start = ({ add }) => html`
  <section class="start" aria-labelledby="start">
    <h2 id="start">Three steps to the first standing order</h2>
    <ol>
      ${STEPS.map(([title, text]) => html`<li key=${title}><b>${title}</b><p>${text}</p></li>`)}
    </ol>
    <button
      class="primary"
      onClick=${() =>
        add({
          name: "first-look",
          cron: "* * * * *",
          channel: "web:general",
          text: "schedule list",
          grants: "schedule:read",
        })}
    >
      Add a first one
    </button>
  </section>
`;
