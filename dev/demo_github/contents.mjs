// A repository, its branches, and its files through the contents API.

import { error, invalid, json, notFound, numbered } from "./answer.mjs";
import { gitSha } from "./git.mjs";
import { user } from "./people.mjs";

export function show(request, repository) {
  const { id, name, full_name, description, default_branch } = repository;
  return json(200, {
    id, name, full_name, description, default_branch,
    owner: { ...user(request, repository.owner), type: "Organization" },
    private: true,
    archived: false,
    html_url: `${request.origin}/${full_name}`,
    url: `${request.origin}/repos/${full_name}`,
    has_issues: true,
    permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
  });
}

// --- branches

export function branches(request, repository) {
  const { items, headers } = numbered(request, Object.keys(repository.branches).sort());
  return json(200, items.map((name) => showBranch(request, repository, name)), headers);
}

export function branch(request, repository, name) {
  return Object.hasOwn(repository.branches, name)
    ? json(200, showBranch(request, repository, name)) : error(404, "Branch not found");
}

export function ref(request, repository, name) {
  return Object.hasOwn(repository.branches, name)
    ? json(200, showRef(request, repository, name)) : notFound();
}

export function matchingRefs(request, repository, prefix) {
  const names = Object.keys(repository.branches).filter((name) => name.startsWith(prefix)).sort();
  return json(200, names.map((name) => showRef(request, repository, name)));
}

/** A branch is made from the tip of one that is there. */
export function createRef(request, repository) {
  const { ref: full, sha } = request.body;
  const name = /^refs\/heads\/([^\s~^:?*[\\]+)$/.exec(String(full))?.[1];
  if (!name || name.endsWith("/") || name.includes("..")) {
    return error(422, `${full} is not a valid ref name.`);
  }
  if (Object.hasOwn(repository.branches, name)) return error(422, "Reference already exists");
  const from = Object.values(repository.branches).find((each) => each.sha === sha);
  if (!from) return error(422, "Object does not exist");
  repository.branches[name] = { sha, files: { ...from.files } };
  return json(201, showRef(request, repository, name));
}

const showBranch = (request, repository, name) => ({
  name,
  commit: {
    sha: repository.branches[name].sha,
    url: `${request.origin}/repos/${repository.full_name}/commits/${repository.branches[name].sha}`,
  },
  protected: name === repository.default_branch,
});

function showRef(request, repository, name) {
  const api = `${request.origin}/repos/${repository.full_name}/git`;
  const { sha } = repository.branches[name];
  return {
    ref: `refs/heads/${name}`,
    node_id: `demo_ref_${sha.slice(0, 12)}`,
    url: `${api}/refs/heads/${name}`,
    object: { type: "commit", sha, url: `${api}/commits/${sha}` },
  };
}

// --- files

/** The branch that `ref` names (a branch, refs/heads/..., or a tip), the default one if none. */
function resolve(repository, named) {
  const name = (named ?? repository.default_branch).replace(/^refs\/heads\//, "");
  if (Object.hasOwn(repository.branches, name)) return name;
  return Object.keys(repository.branches).find((each) => repository.branches[each].sha === name);
}

export function read(request, repository, path) {
  const name = resolve(repository, request.query.get("ref"));
  if (name === undefined) {
    return error(404, `No commit found for the ref ${request.query.get("ref")}`);
  }
  const { files } = repository.branches[name];
  if (Object.hasOwn(files, path)) return json(200, showFile(request, repository, name, path, true));
  const folder = path ? `${path}/` : "";
  const inside = Object.keys(files).filter((each) => each.startsWith(folder));
  if (!inside.length) return notFound();
  const children = new Set(inside.map((each) => folder + each.slice(folder.length).split("/")[0]));
  return json(200, [...children].sort().map((each) => (Object.hasOwn(files, each)
    ? showFile(request, repository, name, each, false)
    : entry(request, repository, name, each, "dir", gitSha("tree", each), 0))));
}

export function write(request, repository, path) {
  const { message, content, sha } = request.body;
  if (typeof message !== "string" || typeof content !== "string") {
    return error(422, 'Invalid request.\n\n"message" and "content" weren\'t supplied.');
  }
  const place = placeOf(request, repository, path, sha);
  if (place.refusal) return place.refusal;
  const { name, files, known } = place;
  if (known && sha === undefined) {
    return error(422, 'Invalid request.\n\n"sha" wasn\'t supplied.');
  }
  files[path] = Buffer.from(content, "base64").toString("utf8");
  const commit = advance(request, repository, name, [path, content, message]);
  return json(known ? 200 : 201, {
    content: showFile(request, repository, name, path, false), commit,
  });
}

export function remove(request, repository, path) {
  const { message, sha } = request.body;
  if (typeof message !== "string" || typeof sha !== "string") {
    return error(422, 'Invalid request.\n\n"message" and "sha" weren\'t supplied.');
  }
  const place = placeOf(request, repository, path, sha);
  if (place.refusal) return place.refusal;
  delete place.files[path];
  const commit = advance(request, repository, place.name, [path, message]);
  return json(200, { content: null, commit });
}

/** The branch that a commit goes to and its files; a refusal where the path or `sha` is wrong. */
function placeOf(request, repository, path, sha) {
  const { branch: named } = request.body;
  const name = resolve(repository, named);
  if (name === undefined) return { refusal: error(404, `Branch ${named} not found`) };
  if (!path || path.endsWith("/")) return { refusal: invalid("Commit", "path", "invalid") };
  const { files } = repository.branches[name];
  const known = Object.hasOwn(files, path);
  if (sha !== undefined && (!known || sha !== gitSha("blob", files[path]))) {
    return { refusal: error(409, `${path} does not match ${sha}`) };
  }
  return { name, files, known };
}

/** Put one commit on a branch, and show it. */
function advance(request, repository, name, change) {
  const parent = repository.branches[name].sha;
  const tip = gitSha("commit", JSON.stringify([parent, ...change]));
  repository.branches[name].sha = tip;
  return {
    sha: tip,
    message: request.body.message,
    html_url: `${request.origin}/${repository.full_name}/commit/${tip}`,
    parents: [{ sha: parent }],
  };
}

function showFile(request, repository, branchName, path, whole) {
  const text = repository.branches[branchName].files[path];
  const shown = entry(request, repository, branchName, path, "file", gitSha("blob", text),
    Buffer.byteLength(text));
  if (!whole) return shown;
  // GitHub breaks base64 into lines of 60 characters.
  const content = Buffer.from(text).toString("base64").replace(/.{1,60}/g, "$&\n");
  return { ...shown, encoding: "base64", content };
}

function entry(request, repository, branchName, path, type, sha, size) {
  const api = `${request.origin}/repos/${repository.full_name}`;
  const kind = type === "dir" ? "tree" : "blob";
  return {
    type, size, sha, path,
    name: path.split("/").at(-1),
    url: `${api}/contents/${path}?ref=${encodeURIComponent(branchName)}`,
    git_url: `${api}/git/${kind}s/${sha}`,
    html_url: `${request.origin}/${repository.full_name}/${kind}/${branchName}/${path}`,
    download_url: null,
  };
}
