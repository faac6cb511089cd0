// Sorting a message: which function of the router's it asks for, by rules, first match first.
import { call, repoIn, slug } from "./talk.mjs";

const NAME = "([a-z0-9][a-z0-9-]*)";
const NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const NOUN = "(?:me )?(?:the )?(?:schedule )?";
const CHANGES = /\b(bump|upgrade|update|fix|change|refactor|rename|implement|rewrite|migrate|replace|add|remove|delete)\b/;
const OF_CODE = /\b(bump|upgrade|refactor|implement|rewrite|migrate)\b|\bpull request\b/;
const OWN = /\b(remind me|my (?:reminders?|jobs?|routines?)|remember|forget|(?:message|tell|ping|text) me)\b/;

/** The call for a message. `offered` is what the router offers, by name. */
export function sort(text, offered) {
  const lower = text.toLowerCase();
  const found = RULES.map((rule) => rule(lower, text, offered)).find(Boolean);
  const [name, args] = found ?? unsure("no rule of mine is for this");
  return offered.has(name) ? call([name, args]) : call(unsure("that is not offered here"));
}

const unsure = (why, ...nearest) => ["unsure", { why: `demo model: ${why}`, nearest }];

const RULES = [
  (lower, text, offered) => {
    const roles = offered.get("agent")?.parameters.properties.role.enum ?? [];
    return OWN.test(lower) && roles.includes("personal") ? ["agent", { role: "personal" }] : null;
  },
  (lower) => (/\b(who am i|which grants do i|what grants do i|what may i)\b/.test(lower) ? ["whoami", {}] : null),
  (lower) => (/\b(what can you do|which commands|what commands|help me)\b/.test(lower) ? ["help", {}] : null),
  (lower) => {
    const named = /\b(show|cancel|stop)\b.*\brun ([a-z0-9_-]{6,})/.exec(lower);
    if (named) return [named[1] === "show" ? "run_show" : "run_cancel", { id: named[2] }];
    return /\b(list|show|see|look at|which|what)\b.*\bruns?\b/.test(lower) || /\bwhat ran\b/.test(lower) ? ["run_list", {}] : null;
  },
  (lower, text) => {
    const cron = /"([^"]*)"/.exec(text)?.[1];
    if (!cron || !/\b(preview|when|mean|means|next)\b/.test(lower)) return null;
    const zone = /\b([A-Z][A-Za-z]+\/[A-Za-z_]+)\b/.exec(text.replace(/"[^"]*"/, ""))?.[1];
    return ["schedule_preview", zone ? { cron, zone } : { cron }];
  },
  (lower, text) => recurring(lower, text),
  (lower) => (/\b(list|show|which|what|see)\b.*\bschedules\b/.test(lower) ? ["schedule_list", {}] : null),
  (lower, text) => {
    const paused = new RegExp(`\\bpause ${NOUN}${NAME}(?:.*?\\bbecause (.+))?`, "i").exec(text);
    if (!paused) return null;
    const name = paused[1].toLowerCase();
    return ["schedule_pause", paused[2] ? { name, reason: paused[2] } : { name }];
  },
  (lower) => onSchedule(lower, "resume", "schedule_resume"),
  (lower) => onSchedule(lower, "(?:fire|start|trigger)", "schedule_fire"),
  (lower) => {
    const removed = new RegExp(`\\b(?:remove|delete|drop) (?:the )?schedule ${NAME}`).exec(lower);
    return removed ? ["schedule_remove", { name: removed[1] }] : null;
  },
  (lower) => (/\bschedule\b|\bshow\b/.test(lower) && !repoIn(lower) ? onSchedule(lower, "(?:show|about|of|is|with)", "schedule_show") : null),
  (lower, text) => {
    const repo = repoIn(text);
    if (!repo) return null;
    if (/\bissues?\b/.test(lower)) return ["agent", { role: "research", repo }];
    if (CHANGES.test(lower)) return ["agent_ship", { repo, path: planIn(text) ?? `plans/${slug(afterRepo(text))}.md` }];
    if (/\b(advisor|vulnerab)/.test(lower)) return ["advisories", { repo }];
    return ["agent", { role: "research", repo }];
  },
  (lower, text) => (OF_CODE.test(lower) ? ["agent_ship", { repo: "OWNER/REPO", path: planIn(text) ?? `plans/${slug(text)}.md` }] : null),
  (lower) => (CHANGES.test(lower) ? unsure("say which repository, such as acme/api", "agent_ship") : null),
  (lower) => (/\bschedule\b/.test(lower) ? unsure("say which schedule, and what to do with it", "schedule_list", "schedule_add") : null),
];

function onSchedule(lower, verb, name) {
  const found = new RegExp(`\\b${verb} ${NOUN}${NAME}`).exec(lower);
  return found && found[1] !== "me" ? [name, { name: found[1] }] : null;
}

/** "Every weekday at nine in web:ops, ...": a stored schedule, which writes. */
function recurring(lower, text) {
  const found = /\b(?:every|each) (weekday|day|morning|evening|night|week|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b(?: at ([a-z]+|\d{1,2})(?::(\d\d))?)?/.exec(lower);
  if (!found) return null;
  const [, when, hour, minute] = found;
  const days = { weekday: "1-5", week: "1", ...Object.fromEntries(["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"].map((day, at) => [day, String(at)])) };
  const at = hour === undefined ? { evening: 18, night: 3 }[when] ?? 9 : /\d/.test(hour) ? Number(hour) : NUMBERS.indexOf(hour);
  if (!(at >= 0 && at <= 23)) return unsure("I cannot read that time", "schedule_add");
  const channel = /\b(?:in|to) ((?:web|slack|telegram):[\w-]+)/.exec(lower)?.[1] ?? "web:general";
  const what = text
    .slice(0, found.index)
    .concat(text.slice(found.index + found[0].length))
    .replace(new RegExp(`\\b(?:in|to) ${channel}\\b`, "i"), "")
    .replace(/^[\s,:;.-]+|[\s,:;-]+$/g, "")
    .replace(/\s+/g, " ");
  if (what === "") return unsure("say what to do at that time", "schedule_add");
  return ["schedule_add", { name: slug(what), cron: `${Number(minute ?? 0)} ${at} * * ${days[when] ?? "*"}`, channel, text: what }];
}

const planIn = (text) => /\b((?:[\w.-]+\/)+[\w.-]+\.md)\b/.exec(text)?.[1];
const afterRepo = (text) => text.replace(/^\s*in \S+:\s*/i, "");
