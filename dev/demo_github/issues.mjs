// Issues and pull requests: list, read, create, close. They share numbers, and every pull is an
// issue.

import { error, invalid, json, notFound, numbered } from "./answer.mjs";
import { TOKEN_LOGIN, user } from "./people.mjs";

export function list(request, repository) {
  const labels = request.query.get("labels")?.split(",") ?? [];
  const creator = request.query.get("creator");
  const found = newestFirst(request, repository.issues)
    .filter((each) => labels.every((label) => each.labels.includes(label)))
    .filter((each) => !creator || each.user === creator);
  const { items, headers } = numbered(request, found);
  return json(200, items.map((each) => showIssue(request, repository, each)), headers);
}

export function read(request, repository, number) {
  const found = repository.issues.find((each) => each.number === Number(number));
  return found ? json(200, showIssue(request, repository, found)) : notFound();
}

export function create(request, repository) {
  const { title, body = null, labels = [] } = request.body;
  if (typeof title !== "string" || !title.trim()) return invalid("Issue", "title", "missing_field");
  const issue = add(repository, request, { title, body, labels: labels.map(String) });
  return json(201, showIssue(request, repository, issue));
}

/** Closes or opens again; what else GitHub lets one change is not needed. */
export function update(request, repository, number) {
  const found = repository.issues.find((each) => each.number === Number(number));
  if (!found) return notFound();
  const { state = found.state } = request.body;
  if (!["open", "closed"].includes(state)) return invalid("Issue", "state", "invalid");
  found.state = state;
  return json(200, showIssue(request, repository, found));
}

export function listComments(request, repository, number) {
  const found = repository.issues.find((each) => each.number === Number(number));
  if (!found) return notFound();
  const { items, headers } = numbered(request, found.comments ?? []);
  return json(200, items.map((each) => showComment(request, each)), headers);
}

export function createComment(request, repository, number) {
  const found = repository.issues.find((each) => each.number === Number(number));
  if (!found) return notFound();
  const { body } = request.body;
  if (typeof body !== "string" || !body.trim()) {
    return invalid("IssueComment", "body", "missing_field");
  }
  found.comments ??= [];
  const made = {
    id: found.number * 1000 + found.comments.length, user: TOKEN_LOGIN, created_at: request.at, body,
  };
  found.comments.push(made);
  return json(201, showComment(request, made));
}

export function listPulls(request, repository) {
  const head = request.query.get("head")?.replace(/^[^:]*:/, "");
  const base = request.query.get("base");
  const found = newestFirst(request, repository.issues.filter((each) => each.pull))
    .filter((each) => !head || each.pull.head === head)
    .filter((each) => !base || each.pull.base === base);
  const { items, headers } = numbered(request, found);
  return json(200, items.map((each) => showPull(request, repository, each)), headers);
}

export function readPull(request, repository, number) {
  const found = repository.issues.find((each) => each.pull && each.number === Number(number));
  return found ? json(200, showPull(request, repository, found)) : notFound();
}

/** What a pull request changes: its branch against the branch that it goes into, as it is now. */
export function listFiles(request, repository, number) {
  const found = repository.issues.find((each) => each.pull && each.number === Number(number));
  if (!found) return notFound();
  const [before, after] = [found.pull.base, found.pull.head].map((name) =>
    repository.branches[name].files);
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    .filter((path) => before[path] !== after[path]);
  const { items, headers } = numbered(request, paths);
  return json(200, items.map((path) => showChange(path, before[path], after[path])), headers);
}

export function createPull(request, repository) {
  const { title, body = null, base, draft = false } = request.body;
  const head = String(request.body.head ?? "").replace(/^[^:]*:/, "");
  if (typeof title !== "string" || !title.trim()) {
    return invalid("PullRequest", "title", "missing_field");
  }
  const { branches } = repository;
  if (!Object.hasOwn(branches, head)) return invalid("PullRequest", "head", "invalid");
  if (!Object.hasOwn(branches, String(base))) return invalid("PullRequest", "base", "invalid");
  const custom = (message) =>
    error(422, "Validation Failed", [{ resource: "PullRequest", code: "custom", message }]);
  if (branches[head].sha === branches[base].sha) {
    return custom(`No commits between ${base} and ${head}`);
  }
  const open = (each) => each.state === "open" && each.pull?.head === head && each.pull.base === base;
  if (repository.issues.some(open)) {
    return custom(`A pull request already exists for ${repository.owner}:${head}.`);
  }
  const made = add(repository, request, {
    title, body, labels: [], pull: { head, base, draft: Boolean(draft) },
  });
  return json(201, showPull(request, repository, made));
}

function add(repository, request, fields) {
  const number = Math.max(0, ...repository.issues.map((each) => each.number)) + 1;
  const issue = {
    number, state: "open", user: TOKEN_LOGIN, created_at: request.at, ...fields,
  };
  repository.issues.push(issue);
  return issue;
}

function newestFirst(request, issues) {
  const state = request.query.get("state") ?? "open";
  return issues
    .filter((each) => state === "all" || each.state === state)
    .sort((a, b) => b.number - a.number);
}

export function showIssue(request, repository, issue) {
  const api = `${request.origin}/repos/${repository.full_name}`;
  const html = `${request.origin}/${repository.full_name}`;
  const shown = {
    ...shared(request, issue),
    url: `${api}/issues/${issue.number}`,
    repository_url: api,
    html_url: `${html}/${issue.pull ? "pull" : "issues"}/${issue.number}`,
    comments: issue.comments?.length ?? 0,
    state_reason: issue.state === "closed" ? "completed" : null,
  };
  if (!issue.pull) return shown;
  const at = `/${issue.number}`;
  return { ...shown, pull_request: { url: `${api}/pulls${at}`, html_url: `${html}/pull${at}` } };
}

function showPull(request, repository, issue) {
  const end = (name) => ({
    label: `${repository.owner}:${name}`,
    ref: name,
    sha: repository.branches[name].sha,
    repo: { id: repository.id, full_name: repository.full_name },
  });
  return {
    ...shared(request, issue),
    url: `${request.origin}/repos/${repository.full_name}/pulls/${issue.number}`,
    html_url: `${request.origin}/${repository.full_name}/pull/${issue.number}`,
    head: end(issue.pull.head),
    base: end(issue.pull.base),
    draft: issue.pull.draft,
    merged_at: null,
  };
}

const showComment = (request, { id, body, created_at, user: login }) => ({
  id, body, created_at, updated_at: created_at, user: user(request, login),
});

/** A file's change, told as all its old lines gone and all its new ones there. */
function showChange(path, before, after) {
  const lines = (text) => (text ?? "").split("\n").slice(0, -1);
  const [gone, made] = [lines(before), lines(after)];
  return {
    filename: path,
    status: before === undefined ? "added" : after === undefined ? "removed" : "modified",
    additions: made.length,
    deletions: gone.length,
    changes: made.length + gone.length,
    patch: [
      `@@ -1,${gone.length} +1,${made.length} @@`,
      ...gone.map((line) => `-${line}`), ...made.map((line) => `+${line}`),
    ].join("\n"),
  };
}

const shared = (request, issue) => ({
  id: issue.number,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  state: issue.state,
  locked: false,
  user: user(request, issue.user),
  labels: issue.labels.map((name) => ({ name })),
  assignees: [],
  created_at: issue.created_at,
  updated_at: issue.created_at,
  closed_at: issue.state === "closed" ? issue.created_at : null,
});
