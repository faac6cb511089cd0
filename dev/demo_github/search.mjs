// Search in code and in issues: words that must all occur, "phrases", and a few qualifiers.

import { invalid, json, numbered } from "./answer.mjs";
import { gitSha } from "./git.mjs";
import { showIssue } from "./issues.mjs";

export function code(request, world) {
  const asked = parse(request.query.get("q"));
  if (!asked.terms.length) return invalid("Search", "q", "missing");
  const found = [];
  for (const repository of within(world, asked)) {
    const { files } = repository.branches[repository.default_branch];
    for (const path of Object.keys(files).sort()) {
      if (asked.path && !path.startsWith(asked.path)) continue;
      if (asked.filename && path.split("/").at(-1) !== asked.filename) continue;
      if (asked.extension && !path.endsWith(`.${asked.extension}`)) continue;
      if (!holds(`${path}\n${files[path]}`, asked.terms)) continue;
      found.push(showHit(request, repository, path, files[path], asked.terms));
    }
  }
  return answer(request, found);
}

export function issues(request, world) {
  const asked = parse(request.query.get("q"));
  if (!request.query.get("q")?.trim()) return invalid("Search", "q", "missing");
  const is = (issue, word) => ({
    issue: !issue.pull, pr: Boolean(issue.pull), "pull-request": Boolean(issue.pull),
    open: issue.state === "open", closed: issue.state === "closed",
  })[word] ?? true;
  const found = [];
  for (const repository of within(world, asked)) {
    for (const issue of repository.issues) {
      if (!asked.is.every((word) => is(issue, word))) continue;
      if (asked.author && issue.user !== asked.author) continue;
      const text = { title: issue.title, body: issue.body ?? "" };
      const where = asked.in.length ? asked.in : ["title", "body"];
      if (!holds(where.map((part) => text[part] ?? "").join("\n"), asked.terms)) continue;
      found.push({ ...showIssue(request, repository, issue), score: 1 });
    }
  }
  return answer(request, found);
}

const answer = (request, found) => {
  const { items, headers } = numbered(request, found);
  return json(200, { total_count: found.length, incomplete_results: false, items }, headers);
};

function parse(q) {
  const asked = { terms: [], is: [], in: [], repo: [] };
  for (const [, name, quoted, bare] of (q ?? "").matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? bare;
    if (["is", "type", "state"].includes(name)) asked.is.push(value);
    else if (name === "in") asked.in.push(...value.split(","));
    else if (["repo", "org", "user"].includes(name)) asked.repo.push(value.toLowerCase());
    else if (["author", "path", "filename", "extension"].includes(name)) asked[name] = value;
    else asked.terms.push((name ? `${name}:${value}` : value).toLowerCase());
  }
  return asked;
}

const within = (world, asked) => [...world.repositories.values()].filter((each) =>
  !asked.repo.length || asked.repo.some((name) => [each.full_name, each.owner].includes(name)));

const holds = (text, terms) => terms.every((term) => text.toLowerCase().includes(term));

function showHit(request, repository, path, text, terms) {
  const api = `${request.origin}/repos/${repository.full_name}`;
  const branch = repository.default_branch;
  const hit = {
    name: path.split("/").at(-1),
    path,
    sha: gitSha("blob", text),
    url: `${api}/contents/${path}?ref=${branch}`,
    html_url: `${request.origin}/${repository.full_name}/blob/${branch}/${path}`,
    repository: { id: repository.id, name: repository.name, full_name: repository.full_name },
    score: 1,
  };
  if (!request.accept.includes("text-match")) return hit;
  const lines = text.split("\n").filter((line) => terms.some((term) => holds(line, [term])));
  return {
    ...hit,
    text_matches: lines.slice(0, 5).map((fragment) => ({
      object_type: "FileContent", property: "content", fragment, matches: [],
    })),
  };
}
