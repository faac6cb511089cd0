// What the demo organisation starts with. Every name, advisory and id is invented.

import { gitSha } from "./git.mjs";

const EPOCH = Date.parse("2026-09-01T08:00:00Z");
const DAY = 86_400_000;

const day = (number) => new Date(EPOCH + number * DAY).toISOString().replace(".000Z", "Z");

// package, ecosystem, manifest, severity, range, fix (null: none yet), summary, state
const API_ALERTS = [
  ["demo-jwt", "npm", "package-lock.json", "critical", "< 3.2.1", "3.2.1",
    "Signature check is skipped for tokens with an empty algorithm"],
  ["demo-json-merge", "npm", "package-lock.json", "high", "<= 4.17.20", "4.17.21",
    "Prototype pollution through nested keys"],
  ["demo-http-proxy", "npm", "package-lock.json", "high", ">= 2.0.0, < 2.8.4", "2.8.4",
    "Request smuggling with two content-length headers"],
  ["demo-yaml", "pip", "tools/requirements.txt", "medium", "< 6.0.2", "6.0.2",
    "Anchors that expand without bound use up the memory"],
  ["demo-markdown", "npm", "package-lock.json", "medium", "< 1.9.0", "1.9.0",
    "Cross-site scripting in link titles"],
  ["demo-template", "npm", "package-lock.json", "medium", "= 0.4.0", null,
    "Path traversal in included templates"],
  ["demo-colour", "npm", "package-lock.json", "low", "< 1.0.3", "1.0.3",
    "Slow regular expression in the colour parser"],
  ["demo-cookie", "npm", "package-lock.json", "high", "< 0.7.0", "0.7.0",
    "Cookie names are not checked", "fixed"],
  ["demo-logger", "npm", "package-lock.json", "low", "< 5.1.0", "5.1.0",
    "Log lines can be forged with line breaks", "dismissed"],
];

const WEB_ALERTS = [
  ["demo-router", "npm", "package-lock.json", "high", "< 6.30.2", "6.30.2",
    "Open redirect with protocol-relative paths"],
  ["demo-bundler", "npm", "package-lock.json", "medium", "< 5.4.20", "5.4.20",
    "The development server answers any origin"],
  ["demo-markdown", "npm", "package-lock.json", "medium", "< 1.9.0", "1.9.0",
    "Cross-site scripting in link titles"],
];

const BIG_ALERTS = Array.from({ length: 250 }, (_, index) => [
  `demo-package-${String(index + 1).padStart(3, "0")}`,
  ["npm", "pip", "maven", "go"][index % 4],
  ["package-lock.json", "requirements.txt", "pom.xml", "go.mod"][index % 4],
  ["low", "medium", "high", "critical"][index % 4],
  `< 1.${index + 1}.0`,
  index % 5 === 0 ? null : `1.${index + 1}.0`,
  `Invented weakness number ${index + 1}`,
]);

const API_FILES = {
  "README.md": "# acme api\n\nTakes orders over HTTP. This repository is a demo.\n",
  "package.json": `${JSON.stringify({
    name: "acme-api", version: "1.4.0", type: "module",
    dependencies: { "demo-json-merge": "4.17.20", "demo-jwt": "3.1.0" },
  }, null, 2)}\n`,
  "src/server.mjs": 'import { orders } from "./orders.mjs";\n\nexport function handle(request) {\n'
    + '  return request.path === "/orders" ? orders() : { status: 404 };\n}\n',
  "src/orders.mjs": "// An order is {id, item, count}.\nexport function orders() {\n"
    + "  return { status: 200, body: [] };\n}\n",
  "docs/plans/update-json-merge.md": "# Plan: update demo-json-merge\n\n"
    + "1. In package.json set demo-json-merge to 4.17.21.\n"
    + "2. Say in CHANGELOG.md what was fixed.\n",
};

const WEB_FILES = {
  "README.md": "# acme web\n\nThe shop's pages. This repository is a demo.\n",
  "package.json": `${JSON.stringify({ name: "acme-web", version: "2.0.1" }, null, 2)}\n`,
  "src/app.mjs": 'export const title = "Acme shop";\n',
};

const readme = (text) => ({ "README.md": `${text}\n` });

/** A fresh world: `{repositories}`, a map by full name, which is lower-case here. */
export function seed() {
  const repositories = [
    repository(101, "api", "Takes orders over HTTP", API_FILES, API_ALERTS, [
      { title: "Orders without a count are accepted", body: "POST /orders takes `{}`.",
        labels: ["bug"] },
      { title: "Say which fields an order has", body: "The README does not say it.",
        labels: ["documentation"], state: "closed" },
    ]),
    repository(102, "web", "The shop's pages", WEB_FILES, WEB_ALERTS, [
      { title: "The title is wrong on the start page", body: "It says Acme shop twice.",
        labels: [] },
    ]),
    repository(103, "quiet", "Has nothing to report", readme("# quiet"), [], []),
    repository(104, "big", "Has far too much to report", readme("# big"), BIG_ALERTS, []),
  ];
  return { repositories: new Map(repositories.map((each) => [each.full_name, each])) };
}

/** Add an open advisory to a repository of the world; says what is wrong with it, or null. */
export function addAdvisory(world, asked) {
  const found = world.repositories.get(String(asked?.repo).toLowerCase());
  if (!found) return "repo must name a repository";
  if (typeof asked.summary !== "string") return "summary must be a string";
  const { summary, package: name = "demo-planted", severity = "low" } = asked;
  const row = [name, "npm", "package-lock.json", severity, "< 2.0.0", "2.0.0", summary];
  found.alerts.push(alert(found.id, found.alerts.length + 1, row));
  return null;
}

function repository(id, name, description, files, alerts, issues) {
  const full_name = `acme/${name}`;
  return {
    id, name, full_name, description, owner: "acme", default_branch: "main",
    // A branch is its tip and its files (path to text); history is not kept.
    branches: { main: { sha: gitSha("commit", `${full_name} main`), files: { ...files } } },
    alerts: alerts.map((row, index) => alert(id, index + 1, row)),
    // Issues and pull requests share their numbers, as on GitHub.
    issues: issues.map((each, index) => ({
      number: index + 1, state: "open", user: "demo-alice", created_at: day(20 + index), ...each,
    })),
  };
}

function alert(repositoryId, number, row) {
  const [name, ecosystem, manifest, severity, range, fix, summary, state = "open"] = row;
  const code = `${repositoryId}${String(number).padStart(4, "0")}`;
  return {
    number, state, created_at: day(number % 80), severity, manifest, range, fix, summary,
    package: { ecosystem, name },
    ghsa_id: `GHSA-demo-${code.slice(0, 4)}-${code.slice(3)}`,
    // Every third one has no CVE, as happens; 2099 is no year that has any.
    cve_id: number % 3 === 0 ? null : `CVE-2099-${code}`,
  };
}
