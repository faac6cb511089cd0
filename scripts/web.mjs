// Builds the pages: the modules in web/ and the libraries they import become one file a page in
// public/assets/, since thirty files a page cost the panel its 300 ms.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const WEB = path.join(ROOT, "web");
const ASSETS = path.join(ROOT, "public", "assets");
const LIBRARIES = ["preact", "htm", "marked"];

function licenceOf(name) {
  const folder = path.join(ROOT, "node_modules", name);
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}\n\n${fs.readFileSync(path.join(folder, file), "utf8").trim()}\n`;
}

fs.rmSync(ASSETS, { recursive: true, force: true });
await build({
  entryPoints: {
    early: path.join(WEB, "early.js"),
    panel: path.join(WEB, "panel", "main.js"),
    chat: path.join(WEB, "chat", "main.js"),
    tokens: path.join(WEB, "tokens.js"),
  },
  outdir: ASSETS,
  bundle: true,
  external: ["/assets/*"],
  format: "esm",
  target: "es2022",
  minify: true,
  sourcemap: "linked",
  logLevel: "warning",
});
fs.writeFileSync(path.join(ASSETS, "LICENSES.txt"), LIBRARIES.map(licenceOf).join("\n---\n\n"));
