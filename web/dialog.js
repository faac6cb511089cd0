// Dialogs over the page, and the short messages at its foot.
import { html, useEffect, useId, useRef, useState } from "./html.js";

/** A modal dialog that is there while it is drawn. `onClose`: it was closed by Escape. */
export function Dialog({ title, onClose, wide = false, children }) {
  const dialog = useRef(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    dialog.current.querySelector("[data-first]")?.focus();
    return () => before.focus();
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`
    <dialog ref=${dialog} class=${wide ? "wide" : ""} aria-labelledby=${id} onCancel=${cancel}>
      <h2 id=${id}>${title}</h2>
      ${children}
    </dialog>
  `;
}

/**
 * A question with one button that does something and one that does not. `act` may throw a Problem,
 * which is shown; while it works, it cannot be pressed again.
 */
export function Confirm({ title, verb, danger = false, act, onClose, children }) {
  const [busy, work] = useState(false);
  const [problem, tell] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    work(true);
    try {
      await act(new FormData(event.currentTarget));
      onClose();
    } catch (error) {
      tell(error);
      work(false);
    }
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form onSubmit=${submit}>
        ${children}
        ${problem && html`<p class="problem" role="alert">${problem.detail ?? String(problem)}</p>`}
        <div class="buttons">
          <button type="button" onClick=${onClose}>Cancel</button>
          <button class=${danger ? "danger" : "primary"} aria-disabled=${busy}>${verb}</button>
        </div>
      </form>
    <//>
  `;
}

let showToast = () => undefined;

/** Say something short at the foot of the page. */
export const toast = (text, bad = false) => showToast({ text, bad, at: Date.now() });

/** Where `toast` says it: once a page. */
export function Toasts() {
  const [said, say] = useState(null);
  useEffect(() => {
    showToast = say;
  }, []);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => say(null), said.bad ? 12_000 : 6_000);
    return () => clearTimeout(timer);
  }, [said]);
  return html`<div class="toasts" role="status">
    ${said && html`<p class=${said.bad ? "toast bad" : "toast"}>${said.text}</p>`}
  </div>`;
}
