// Asks for what a page will show while the page's own modules are on their way, where somebody was
// signed in before. api.js takes the answers up.
if (localStorage.getItem("signed-in")) {
  const paths = document.currentScript.dataset.paths.split(" ");
  globalThis.early = new Map(paths.map((path) => [path, fetch(path, { cache: "no-store" })]));
  for (const answer of globalThis.early.values()) answer.catch(() => undefined);
}
