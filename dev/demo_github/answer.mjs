// Answers in GitHub's shape: JSON bodies, errors, and lists with a Link header.

const DOCS = "https://docs.github.com/rest";

export const json = (status, body, headers = {}) => ({ status, headers, body });

/** GitHub's error body; `errors` only where there are some. */
export function error(status, message, errors) {
  const body = { message, documentation_url: DOCS, status: String(status) };
  return json(status, errors ? { ...body, errors } : body);
}

export const notFound = () => error(404, "Not Found");

/** 422 for a field that is missing or wrong. */
export const invalid = (resource, field, code, message) =>
  error(422, "Validation Failed", [{ resource, field, code, ...(message ? { message } : {}) }]);

/** `per_page` as GitHub reads it: 30 unless told, 100 at most. */
export function perPage(query) {
  const asked = Number.parseInt(query.get("per_page") ?? "30", 10);
  return Math.min(Math.max(Number.isNaN(asked) ? 30 : asked, 1), 100);
}

/** One numbered page of `items`, and the Link header that goes with it. */
export function numbered(request, items) {
  const size = perPage(request.query);
  const last = Math.max(1, Math.ceil(items.length / size));
  const page = Math.max(1, Number.parseInt(request.query.get("page") ?? "1", 10) || 1);
  const links = {};
  if (page > 1) Object.assign(links, { prev: { page: page - 1 }, first: { page: 1 } });
  if (page < last) Object.assign(links, { next: { page: page + 1 }, last: { page: last } });
  return { items: items.slice((page - 1) * size, page * size), headers: link(request, links) };
}

/** One page of `items` by cursor (`after`, `before`); null for a cursor that is none of ours. */
export function byCursor(request, items) {
  const size = perPage(request.query);
  const after = offset(request.query.get("after"));
  const before = offset(request.query.get("before"));
  if (Number.isNaN(after) || Number.isNaN(before)) return null;
  const start = after ?? (before === undefined ? 0 : Math.max(0, before - size));
  const end = Math.min(items.length, start + size);
  const links = {};
  if (end < items.length) links.next = { after: cursor(end), before: null };
  if (start > 0) links.prev = { before: cursor(start), after: null };
  return { items: items.slice(start, end), headers: link(request, links) };
}

const cursor = (at) => Buffer.from(`demo:${at}`).toString("base64");

function offset(text) {
  if (text === null) return undefined;
  const match = /^demo:(\d{1,9})$/.exec(Buffer.from(text, "base64").toString());
  return match ? Number(match[1]) : Number.NaN;
}

/** The Link header, with the repository by its number, as GitHub writes it. */
function link(request, links) {
  const parts = Object.entries(links).map(([rel, changes]) => {
    const query = new URLSearchParams(request.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) query.delete(name);
      else query.set(name, String(value));
    }
    return `<${request.origin}${request.canonicalPath}?${query}>; rel="${rel}"`;
  });
  return parts.length ? { link: parts.join(", ") } : {};
}
