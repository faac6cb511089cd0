// The panel: one page that says whether last night was fine, and everything behind the answer.
import { open } from "../frame.js";
import { html, useCallback, useEffect, useState } from "../html.js";
import { usePoll } from "../poll.js";
import { ActionDialog } from "./actions.js";
import { Add, setDraft } from "./add.js";
import { Attention } from "./attention.js";
import { Health } from "./health.js";
import { Jobs } from "./jobs.js";
import { Legend } from "./legend.js";
import { Page } from "./page.js";
import { Start } from "./start.js";
import { Table } from "./table.js";
import { Verdict } from "./verdict.js";

const SCHEDULES = "/admin/schedules";
const DAY = "/admin/strips?span=24h";
const MONTH = "/admin/strips?span=30d";
const TICKS = "/admin/ticks";

/** How often the schedules are asked for, in ms: more often while something is under way. */
const CALM = 5000;
const HURRIED = 1500;
const moves = ({ last }) => last?.state === "running" || last?.state === "starting";

/** The schedule that the address names after its hash: #/nightly-audit. */
function useNamed() {
  const read = () => {
    const [, name] = location.hash.split("#/");
    try {
      return name ? decodeURIComponent(name) : null;
    } catch {
      return null;
    }
  };
  const [named, name] = useState(read);
  useEffect(() => {
    const change = () => {
      name(read());
      scrollTo(0, 0);
      document.getElementById("content")?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return named;
}

function Live({ error }) {
  return error
    ? html`<span class="live lost" role="status">not fresh: ${error.detail}</span>`
    : html`<span class="live">live</span>`;
}

function Panel({ session }) {
  const { grants } = session;
  const [pace, setPace] = useState(CALM);
  const listed = usePoll(SCHEDULES, pace);
  const day = usePoll(DAY, 5000);
  // What can wait waits until the first of it is shown.
  const later = (path) => (listed.data && day.data ? path : null);
  const month = usePoll(later(MONTH), 60_000);
  const ticks = usePoll(later(TICKS), 10_000);
  const channels = usePoll(later("/api/channels"), 600_000);
  const [acting, act] = useState(null);
  const [adding, setAdding] = useState(false);
  const named = useNamed();
  useEffect(() => setPace(listed.data?.schedules.some(moves) ? HURRIED : CALM), [listed.data]);
  const refresh = useCallback(
    () => Promise.all([listed.refresh(), day.refresh(), month.refresh()]),
    [],
  );
  const add = (draft) => {
    if (draft) setDraft(draft);
    setAdding(true);
  };
  const done = () => {
    act(null);
    refresh();
  };

  if (listed.error && !listed.data) {
    return html`<main id="content" class="panel" tabindex="-1">
      <section class="verdict down" role="alert">
        <div class="sentence"><h1>The schedules cannot be read.</h1></div>
        <p>${listed.error.detail}</p>
        <button class="primary" onClick=${refresh}>Try again</button>
      </section>
    </main>`;
  }
  if (!listed.data || !day.data) return html`<${Loading} />`;

  const schedules = listed.data.schedules;
  const shared = { day: day.data, month: month.data, grants, act };
  const lastTick =
    ticks.data?.last?.at ?? schedules.find(({ name }) => name === "keep-alive")?.last?.claimed_at;
  const stored = schedules.some(({ kind }) => kind === "stored");
  return html`
    <main id="content" class="panel" tabindex="-1">
      <${Live} error=${listed.error ?? day.error} />
      ${
        named !== null
          ? html`<${Page}
            key=${named}
            name=${named}
            schedule=${schedules.find(({ name }) => name === named)}
            refresh=${refresh}
            ...${shared}
          />`
          : html`
            <${Verdict} schedules=${schedules} span=${day.data} lastTick=${lastTick ?? null} />
            <${Attention} schedules=${schedules} grants=${grants} refresh=${refresh} />
            ${!stored && html`<${Start} add=${add} />`}
            <${Table} schedules=${schedules} add=${add} ...${shared} />
            <${Legend} />
            ${ticks.data && html`<${Health} ticks=${ticks.data} />`}
            <${Jobs} />
          `
      }
      <${ActionDialog} acting=${acting} done=${done} removed=${() => (location.hash = "#/")} />
      ${
        adding &&
        html`<${Add}
        channels=${channels.data?.channels ?? []}
        onClose=${() => setAdding(false)}
        onAdded=${refresh}
      />`
      }
    </main>
  `;
}

/** The page's shape while its data is on the way. */
const Loading = () => html`
  <main id="content" class="panel" aria-busy="true" tabindex="-1">
    <p class="hidden" role="status">Loading the schedules</p>
    <div class="ghost tall"></div>
    ${[1, 2, 3, 4, 5].map((n) => html`<div class="ghost" key=${n}></div>`)}
  </main>
`;

open("schedules", Panel);
