// One message: a person's words as they were typed, the bot's as Markdown under how its run ended.
import { CODES } from "../generated/texts.js";
import { classes, html, useMemo } from "../html.js";
import { Markdown } from "../markdown.js";
import { State } from "../marks.js";
import { full, moment } from "../time.js";
import { Handback, takenUpBy } from "./handback.js";

/** The bot's text taken apart: the receipt of what was run, the rest without its outcome line. */
function partsOf(text, outcome) {
  if (!outcome) return { rest: text };
  const heading = `${outcome.state}: ${outcome.code}\n`;
  if (outcome.code && text.startsWith(heading)) return { rest: text.slice(heading.length) };
  const receipt = ["routed", "agent"].includes(outcome.route)
    ? /^ran: (.*)(?:\n|$)/.exec(text)
    : null;
  return receipt ? { receipt: receipt[1], rest: text.slice(receipt[0].length) } : { rest: text };
}

export function Message({ message, messages, actor, send }) {
  const { author, text, at, outcome } = message;
  const bot = author === "bot";
  const { receipt, rest } = useMemo(() => partsOf(text, outcome), [text, outcome?.state]);
  const handback = outcome?.handback;
  const ill = outcome && outcome.state !== "ok";
  return html`
    <article class=${classes("message", bot ? "bot" : "person", author === actor && "own")}>
      <p class="by">
        <b>${bot ? "Bot" : author}</b>
        <time datetime=${at} title=${full(at)}>${moment(at)}</time>
        ${ill && html`<${State} state=${outcome.state} code=${outcome.code} />`}
        ${ill && !handback && html`<span class="second">${CODES[outcome.code]}</span>`}
      </p>
      ${receipt && html`<p class="receipt"><span>ran</span> <code>${receipt}</code></p>`}
      ${
        handback
          ? html`<${Handback}
            message=${message}
            takenUp=${takenUpBy(messages, message)}
            actor=${actor}
            send=${send}
          />`
          : bot
            ? html`<${Markdown} text=${rest} />`
            : html`<p class="plain" dir="auto">${text}</p>`
      }
    </article>
  `;
}
