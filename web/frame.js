// What every page has around it: the header, the way in, and the messages.
import { Toasts } from "./dialog.js";
import { Emblem } from "./emblem.js";
import { html, render, useEffect } from "./html.js";
import { forget, useClock } from "./poll.js";
import { askAgain, load, signOut, useSession } from "./session.js";
import { SessionEnded, Welcome } from "./sign-in.js";

const PAGES = [
  { name: "schedules", href: "/", text: "Schedules" },
  { name: "chat", href: "/chat/", text: "Chat" },
];

async function leave() {
  await signOut();
  forget();
}

const Header = ({ page, actor }) => html`
  <header class="top">
    <a class="brand" href="/" aria-label="Standing Orders">
      <${Emblem} />
      <span>Standing Orders</span>
    </a>
    <nav aria-label="Pages">
      ${PAGES.map(
        ({ name, href, text }) =>
          html`<a href=${href} aria-current=${name === page ? "page" : undefined}>${text}</a>`,
      )}
    </nav>
    <div class="who">
      <span class="actor" title="You act as this actor">${actor}</span>
      <button class="quiet" onClick=${leave}>Sign out</button>
    </div>
  </header>
`;

/** A page: nothing before it is known who is there, the way in, or `Body` in its frame. */
function Frame({ page, Body }) {
  const session = useSession();
  useClock(5000);
  useEffect(() => {
    load();
  }, []);
  if (session.phase === "loading") return null;
  if (session.phase === "out") return html`<${Welcome} error=${session.error} /><${Toasts} />`;
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <${Header} page=${page} actor=${session.actor} />
    ${
      session.phase === "left" &&
      html`<p class="banner" role="status">
      You are signed out, so what you see is no longer fresh.
      <button class="primary" onClick=${askAgain}>Sign in</button>
    </p>`
    }
    <${Body} session=${session} />
    ${session.phase === "ended" && html`<${SessionEnded} />`}
    <${Toasts} />
  `;
}

/** Open a page in the document. */
export function open(page, Body) {
  render(html`<${Frame} page=${page} Body=${Body} />`, document.getElementById("app"));
}
