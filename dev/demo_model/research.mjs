// The role research: reads a repository with the tools, and opens issues where it has that tool.
import { call, say } from "./talk.mjs";

const MOST = 20;

/** The next message of a research turn. */
export function research(ask, offered, results) {
  const lower = ask.toLowerCase();
  if (/\bopen\b.*\bissues?\b|\bissue for each\b|\bfile\b.*\bissues?\b/.test(lower)) return fileIssues(offered, results);
  const first = firstCall(lower, ask);
  if (results.length === 0) return call(first);
  const { name, text } = results.at(-1);
  return say(`${name} answered:\n${text.slice(0, 4000)}`);
}

function firstCall(lower, ask) {
  const file = /\b((?:[\w.-]+\/)*[\w-]+\.[A-Za-z]\w*)\b/.exec(ask.replace(/^\s*in \S+:\s*/i, ""))?.[1];
  const words = /\b(?:search|find|where is|look for)\b(?: the| a| for)* ["']?([\w.-]+)/.exec(lower)?.[1];
  if (/\bpull requests?\b|\bpulls\b/.test(lower)) return ["list_pulls", {}];
  if (/\bissues?\b/.test(lower)) return ["list_issues", {}];
  if (/\badvisor|\bvulnerab/.test(lower)) return ["list_advisories", {}];
  if (words) return ["search_code", { text: words }];
  if (file) return ["read_file", { path: file }];
  if (/\bfiles?\b|\bfolders?\b/.test(lower)) return ["list_folder", {}];
  return ["read_file", { path: "README.md" }];
}

/** An issue for each open advisory that no open issue covers yet. */
function fileIssues(offered, results) {
  const advisories = results.find((each) => each.name === "list_advisories");
  const issues = results.find((each) => each.name === "list_issues");
  if (!advisories || !issues) return call(["list_advisories", {}], ["list_issues", {}]);
  const created = results.filter((each) => each.name === "create_issue");
  if (created.length > 0) {
    return say(`there was an issue to open for each of ${created.length} advisories.\n${created.map((each) => `- ${each.text}`).join("\n")}`);
  }
  const found = advisories.text.split("\n").map(readAdvisory).filter(Boolean);
  if (found.length === 0) return say(advisories.text);
  const missing = found.filter(({ title }) => !issues.text.includes(title));
  if (missing.length === 0) return say(`all ${found.length} advisories have an open issue already.`);
  if (!offered.has("create_issue")) {
    return say(`I have no tool to open issues, so here is what they would say:\n${missing.map(({ title }) => `- ${title}`).join("\n")}`);
  }
  return call(...missing.slice(0, MOST).map(({ title, body }) => ["create_issue", { title, body }]));
}

function readAdvisory(line) {
  const found = /^- (\w+) (\S+) (.+) \((\S+), (\S+)\), (fixed in \S+|no fix yet), ([^:]*): (.*)$/.exec(line);
  if (!found) return null;
  const [, severity, name, range, ecosystem, manifest, fix, ids, summary] = found;
  return {
    title: `${name} ${range}: ${summary}`.slice(0, 200),
    body: `${severity} advisory ${ids} about ${name} (${ecosystem}, ${manifest}): ${summary}.\n\nAffected: ${range}; ${fix}.`,
  };
}
