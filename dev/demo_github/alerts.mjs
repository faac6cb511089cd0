// Dependabot alerts.

import { byCursor, error, json, notFound } from "./answer.mjs";

const REMOVED = ["page", "first", "last"];

export function list(request, repository) {
  // GitHub took page numbers away from this list in October 2025.
  const removed = REMOVED.find((name) => request.query.has(name));
  if (removed) return error(400, `Pagination using the \`${removed}\` parameter is not supported.`);
  const wanted = (name) => request.query.get(name)?.split(",");
  const states = wanted("state"), severities = wanted("severity"), packages = wanted("package");
  const found = repository.alerts
    .filter((each) => !states || states.includes(each.state))
    .filter((each) => !severities || severities.includes(each.severity))
    .filter((each) => !packages || packages.includes(each.package.name));
  const page = byCursor(request, found);
  if (page === null) return error(400, "The cursor is not valid.");
  return json(200, page.items.map((each) => show(request, repository, each)), page.headers);
}

export function read(request, repository, number) {
  const found = repository.alerts.find((each) => each.number === Number(number));
  return found ? json(200, show(request, repository, found)) : notFound();
}

function show(request, repository, alert) {
  const vulnerability = {
    package: alert.package,
    severity: alert.severity,
    vulnerable_version_range: alert.range,
    first_patched_version: alert.fix === null ? null : { identifier: alert.fix },
  };
  const identifiers = [{ type: "GHSA", value: alert.ghsa_id }];
  if (alert.cve_id) identifiers.push({ type: "CVE", value: alert.cve_id });
  const ended = (state) => (alert.state === state ? alert.created_at : null);
  return {
    number: alert.number,
    state: alert.state,
    dependency: {
      package: alert.package,
      manifest_path: alert.manifest,
      scope: "runtime",
      relationship: "direct",
    },
    security_advisory: {
      ghsa_id: alert.ghsa_id,
      cve_id: alert.cve_id,
      summary: alert.summary,
      description: `${alert.summary}. This advisory is invented for a demo.`,
      vulnerabilities: [vulnerability],
      severity: alert.severity,
      cvss: { vector_string: null, score: 0 },
      cwes: [],
      identifiers,
      references: [],
      published_at: alert.created_at,
      updated_at: alert.created_at,
      withdrawn_at: null,
    },
    security_vulnerability: vulnerability,
    url: `${request.origin}/repos/${repository.full_name}/dependabot/alerts/${alert.number}`,
    html_url: `${request.origin}/${repository.full_name}/security/dependabot/${alert.number}`,
    created_at: alert.created_at,
    updated_at: alert.created_at,
    dismissed_at: ended("dismissed"),
    dismissed_by: null,
    dismissed_reason: alert.state === "dismissed" ? "tolerable_risk" : null,
    dismissed_comment: null,
    fixed_at: ended("fixed"),
    auto_dismissed_at: null,
  };
}
