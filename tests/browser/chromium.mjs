// Unpacks the browser that the npm package holds, with its libraries and fonts, into the folder
// given; what is there already is left.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [folder] = process.argv.slice(2);
fs.mkdirSync(folder, { recursive: true });
process.env.TMPDIR = folder; // Where the package unpacks to.
const { inflate } = await import("@sparticuz/chromium");
const packed = path.join(
  path.dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))),
  "..",
  "bin",
);
for (const file of fs.readdirSync(packed)) await inflate(path.join(packed, file));
const fonts = ["fonts", "/usr/share/fonts"].map(
  (each) => `<dir>${path.resolve(folder, each)}</dir>`,
);
fs.writeFileSync(
  path.join(folder, "fonts.conf"),
  `<?xml version="1.0"?>
<fontconfig>${fonts.join("")}<cachedir>${folder}/font-cache</cachedir></fontconfig>
`,
);
