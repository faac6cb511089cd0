// The composer: completes commands, remembers what was said, and keeps a draft a thread.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../html.js";
import { usePoll } from "../poll.js";
import { commandOf, suggest } from "./complete.js";

const MOST = 4000;
const NONE = [];

const draftKey = (place) => `draft ${place.thread ?? place.channel}`;

/** A draft that outlives a reload, and another thread's visit. */
function useDraft(place) {
  const key = draftKey(place);
  const [text, set] = useState(() => sessionStorage.getItem(key) ?? "");
  const keep = (next) => {
    set(next);
    if (next) sessionStorage.setItem(key, next);
    else sessionStorage.removeItem(key);
  };
  return [text, keep];
}

/** What was said before, for the up key: the last is the newest. */
function past() {
  return JSON.parse(sessionStorage.getItem("said") ?? "[]");
}

function remember(text) {
  const said = past().filter((each) => each !== text);
  sessionStorage.setItem("said", JSON.stringify([...said, text].slice(-50)));
}

const KEYS =
  "Enter sends, Shift and Enter breaks the line, ↑ brings back what you said, Tab completes.";

/** What stands under the composer: what is wrong, how the begun command is written, or the keys. */
function Hint({ problem, over, busy, command }) {
  const wrong = over ? `${over.toLocaleString("en")} of 4,000 characters.` : problem?.detail;
  if (wrong) return html`<span class="problem" role="alert">${wrong}</span>`;
  if (busy) return "The thread has a live run; its slot is free when it ends.";
  if (!command) return html`<span class="keys">${KEYS}</span>`;
  return html`<code>${command.usage}</code>${command.needs && ` needs ${command.needs}`}`;
}

export function Composer({ place, commands, busy, send, replies }) {
  const [text, type] = useDraft(place);
  const [chosen, choose] = useState(0);
  const [closed, close] = useState(false);
  const [back, goBack] = useState(null);
  const [sending, work] = useState(false);
  const [problem, tell] = useState(null);
  const field = useRef(null);
  const id = useId();
  const asksNames = /^\s*schedule \w+ /i.test(text);
  const listed = usePoll(asksNames ? "/admin/schedules" : null, 30_000);
  const all = suggest(text, commands, listed.data?.schedules ?? NONE);
  const suggestions = closed ? NONE : all;
  const command = commandOf(text, commands);
  const over = text.length > MOST;

  useLayoutEffect(() => {
    const area = field.current;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, 240)}px`;
  }, [text]);
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current.focus();
  }, []);

  const change = (next) => {
    type(next);
    choose(0);
    close(false);
    tell(null);
  };
  const take = (n) => {
    change(suggestions[n].text);
    field.current.focus();
  };
  const submit = async () => {
    if (!text.trim() || sending || busy || over) return;
    work(true);
    tell(null);
    try {
      await send(text);
      remember(text);
      type("");
      goBack(null);
    } catch (error) {
      tell(error);
    }
    work(false);
    field.current?.focus();
  };
  const recall = (step) => {
    const said = past();
    const at = (back ?? said.length) + step;
    if (at < 0 || at > said.length) return;
    goBack(at === said.length ? null : at);
    change(said[at] ?? "");
    close(true);
  };
  const press = (event) => {
    const { key, shiftKey, isComposing } = event;
    if (isComposing) return;
    if (suggestions.length) {
      const moves = { ArrowDown: 1, ArrowUp: suggestions.length - 1 };
      if (key in moves) choose((chosen + moves[key]) % suggestions.length);
      else if (key === "Tab" && !shiftKey) take(chosen);
      else if (key === "Escape") close(true);
      else if (key === "Enter" && !shiftKey) submit();
      else return;
      event.preventDefault();
      return;
    }
    const still = text === "" || back !== null;
    if (key === "Enter" && !shiftKey) submit();
    else if (key === "ArrowUp" && still) recall(-1);
    else if (key === "ArrowDown" && back !== null) recall(1);
    else return;
    event.preventDefault();
  };

  return html`
    <form
      class="composer"
      onSubmit=${(event) => {
        event.preventDefault();
        submit();
      }}
    >
      ${
        suggestions.length > 0 &&
        html`<ul class="suggestions" role="listbox" id="${id}-list" aria-label="Commands">
        ${suggestions.map(
          ({ shown, hint }, n) => html`<li
            key=${shown}
            id="${id}-${n}"
            role="option"
            aria-selected=${n === chosen ? "true" : "false"}
            onPointerDown=${(event) => event.preventDefault()}
            onClick=${() => take(n)}
          >
            <b>${shown}</b> <span class="second">${hint}</span>
          </li>`,
        )}
      </ul>`
      }
      <label class="hidden" for=${id}>
        ${replies ? "Say something in this thread" : "Begin a thread"}
      </label>
      <textarea
        id=${id}
        ref=${field}
        rows="1"
        value=${text}
        placeholder="${replies ? "Answer" : "Say what you want"}, or type a command"
        dir="auto"
        autocomplete="off"
        aria-autocomplete="list"
        aria-controls=${suggestions.length ? `${id}-list` : undefined}
        aria-activedescendant=${suggestions.length ? `${id}-${chosen}` : undefined}
        aria-describedby="${id}-hint"
        aria-invalid=${problem || over ? "true" : undefined}
        onInput=${(event) => {
          goBack(null);
          change(event.currentTarget.value);
        }}
        onKeyDown=${press}
      ></textarea>
      <button class="primary" aria-disabled=${sending || busy || over || !text.trim()}>Send</button>
      <p class="hint" id="${id}-hint">
        <${Hint} problem=${problem} over=${over && text.length} busy=${busy} command=${command} />
      </p>
    </form>
  `;
}
