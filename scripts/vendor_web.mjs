// Fills public/vendor/ with the libraries of the pages, out of node_modules: ES modules as they were
// published, with bare imports made relative and source map comments cut off.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TARGET = path.join(ROOT, "public", "vendor");

const MODULES = {
  "preact.js": "preact/dist/preact.mjs",
  "hooks.js": "preact/hooks/dist/hooks.mjs",
  "htm.js": "htm/dist/htm.mjs",
  "marked.js": "marked/lib/marked.esm.js",
};
const PACKAGES = ["preact", "htm", "marked"];

const installed = (...parts) => path.join(ROOT, "node_modules", ...parts);

function licenceOf(name) {
  const { version } = JSON.parse(fs.readFileSync(installed(name, "package.json"), "utf8"));
  const file = fs.readdirSync(installed(name)).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? fs.readFileSync(installed(name, file), "utf8") : "No licence file.\n";
  return `${name} ${version}\n\n${text.trim()}\n`;
}

fs.rmSync(TARGET, { recursive: true, force: true });
fs.mkdirSync(TARGET, { recursive: true });
for (const [name, source] of Object.entries(MODULES)) {
  const text = fs
    .readFileSync(installed(source), "utf8")
    .replace(/(from\s*)(["'])preact\2/g, '$1"./preact.js"')
    .replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  fs.writeFileSync(path.join(TARGET, name), `${text.trim()}\n`);
}
fs.writeFileSync(path.join(TARGET, "LICENSES.txt"), PACKAGES.map(licenceOf).join("\n---\n\n"));
