// Which request goes where, and what every request must carry.

import { timingSafeEqual } from "node:crypto";

import * as alerts from "./alerts.mjs";
import { error, notFound } from "./answer.mjs";
import * as contents from "./contents.mjs";
import * as issues from "./issues.mjs";
import * as search from "./search.mjs";

const VERSIONS = ["2022-11-28", "2026-03-10"];

// Below /repos/OWNER/NAME; the pattern's groups become the handler's last arguments.
const REPOSITORY = [
  ["GET", /^$/, contents.show],
  ["GET", /^\/dependabot\/alerts$/, alerts.list],
  ["GET", /^\/dependabot\/alerts\/(\d+)$/, alerts.read],
  ["GET", /^\/contents(?:\/(.*?))?\/?$/, (request, it, path = "") => contents.read(request, it, path)],
  ["PUT", /^\/contents\/(.+)$/, contents.write],
  ["DELETE", /^\/contents\/(.+)$/, contents.remove],
  ["GET", /^\/branches$/, contents.branches],
  ["GET", /^\/branches\/(.+)$/, contents.branch],
  ["GET", /^\/git\/refs?\/heads\/(.+)$/, contents.ref],
  ["GET", /^\/git\/matching-refs\/heads\/?(.*)$/, contents.matchingRefs],
  ["POST", /^\/git\/refs$/, contents.createRef],
  ["GET", /^\/issues$/, issues.list],
  ["POST", /^\/issues$/, issues.create],
  ["GET", /^\/issues\/(\d+)$/, issues.read],
  ["PATCH", /^\/issues\/(\d+)$/, issues.update],
  ["GET", /^\/issues\/(\d+)\/comments$/, issues.listComments],
  ["POST", /^\/issues\/(\d+)\/comments$/, issues.createComment],
  ["GET", /^\/pulls$/, issues.listPulls],
  ["POST", /^\/pulls$/, issues.createPull],
  ["GET", /^\/pulls\/(\d+)$/, issues.readPull],
  ["GET", /^\/pulls\/(\d+)\/files$/, issues.listFiles],
];

const WHOLE = [
  ["GET", /^\/search\/code$/, search.code],
  ["GET", /^\/search\/issues$/, search.issues],
];

/**
 * Answer one request over the world, in GitHub's words.
 *
 * @param request {method, path, query, headers, text, origin, at}
 * @returns {status, headers, body}
 */
export function answer(request, world, token) {
  const refusal = refuse(request, token);
  if (refusal) return refusal;
  let body = {};
  try {
    if (request.text) body = JSON.parse(request.text);
  } catch {
    return error(400, "Problems parsing JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return error(400, "Body should be a JSON object");
  }
  const asked = {
    ...request, body, canonicalPath: request.path, accept: request.headers.accept ?? "",
  };
  for (const [method, pattern, handler] of WHOLE) {
    if (method === request.method && pattern.test(request.path)) return handler(asked, world);
  }
  const found = repositoryOf(request.path, world);
  if (!found) return notFound();
  asked.canonicalPath = `/repositories/${found.repository.id}${found.rest}`;
  for (const [method, pattern, handler] of REPOSITORY) {
    const match = method === request.method && pattern.exec(found.rest);
    if (match) return handler(asked, found.repository, ...match.slice(1).map(decode));
  }
  return notFound();
}

function refuse(request, token) {
  const { authorization, "user-agent": agent, "x-github-api-version": version } = request.headers;
  if (!agent) {
    return error(403, "Request forbidden by administrative rules. "
      + "Please make sure your request has a User-Agent header.");
  }
  if (!authorization) return error(401, "Requires authentication");
  const given = /^(?:bearer|token) (.+)$/i.exec(authorization)?.[1] ?? "";
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  if (a.length !== b.length || !timingSafeEqual(a, b)) return error(401, "Bad credentials");
  if (version && !VERSIONS.includes(version)) {
    return error(400, `The version ${version} is not supported. Use one of ${VERSIONS.join(", ")}.`);
  }
  return null;
}

/** The repository of /repos/OWNER/NAME/... or /repositories/ID/..., and the rest of the path. */
function repositoryOf(path, world) {
  const named = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path);
  if (named) {
    const repository = world.repositories.get(named[1].toLowerCase());
    return repository && { repository, rest: named[2] };
  }
  const numbered = /^\/repositories\/(\d+)(.*)$/.exec(path);
  const id = Number(numbered?.[1]);
  const repository = [...world.repositories.values()].find((each) => each.id === id);
  return repository && { repository, rest: numbered[2] };
}

function decode(part) {
  if (part === undefined) return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
