// Asks for what a page will show while the page's own modules are still on their way, where somebody
// was signed in before. api.js takes the answers up.
const { paths } = document.currentScript?.dataset ?? {};
const asked = paths ? paths.split(" ") : [];
if (localStorage.getItem("signed-in")) {
  globalThis.early = new Map(asked.map((path) => [path, fetch(path, { cache: "no-store" })]));
}
