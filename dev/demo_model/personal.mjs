// A person's own turn or job: reminders, routines and memories, through the tools.
import { call, say, slug } from "./talk.mjs";

const SPELLED = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, ten: 10, fifteen: 15, twenty: 20, thirty: 30, "forty-five": 45 };

/** The next message of a personal turn. */
export function personal(ask, offered, results) {
  if (results.length > 0) return say(results.map((each) => each.text).join("\n"));
  const lower = ask.toLowerCase();
  const said = /^tell me: (.*)$/is.exec(ask)?.[1];
  if (said) return say(said);
  const created = create(ask, lower);
  if (created) return call(["schedule", { action: "create", ...created }]);
  if (/\b(list|show|which|what)\b.*\b(reminders?|jobs?|routines?)\b/.test(lower)) return call(["schedule", { action: "list" }]);
  const gone = /\b(?:delete|cancel|drop|remove)\b.*?\b(?:reminder|job|routine) ([a-z0-9_-]+)/.exec(lower)?.[1];
  if (gone) return call(["schedule", { action: "delete", id: gone }]);
  const forgotten = /\bforget (?:memory )?([a-z0-9]{8,})/.exec(lower)?.[1];
  if (forgotten) return call(["unlearn", { id: forgotten }]);
  if (/\bwhat do you (?:know|remember)\b|\brecall\b/.test(lower)) return call(["recall", { words: /\babout (.+?)\??$/.exec(lower)?.[1] ?? "" }]);
  const learned = /\bremember (?:that )?(.+)$/is.exec(ask)?.[1];
  if (learned) return call(["learn", { text: learned }]);
  if (/\btelegram\b/.test(lower) && offered.has("use_telegram")) return call(["use_telegram", { text: `demo model: ${ask}` }]);
  return say(`I follow a few rules and do no more than say what I was asked: ${ask}`);
}

/** The arguments of a new job, or null. */
function create(ask, lower) {
  const once = /\bremind me (?:in|after) ([a-z-]+|\d+) (minute|hour)s?\b/.exec(lower) ?? /\bin ([a-z-]+|\d+) (minute|hour)s?\b.*\bremind me\b/.exec(lower);
  if (once) {
    const count = SPELLED[once[1]] ?? Number(once[1]);
    const what = whatOf(ask);
    return { name: slug(what), prompt: `Tell me: ${what}`, run_in_minutes: count * (once[2] === "hour" ? 60 : 1) };
  }
  const every = /\bevery (\d+|[a-z-]+)?\s*(minute|hour)s?\b/.exec(lower);
  const daily = /\bevery (?:day|morning|evening|night)\b(?: at (\d{1,2})(?::(\d\d))?)?/.exec(lower);
  if (!every && !daily) return null;
  const what = whatOf(ask);
  if (every) {
    const count = every[1] === undefined ? 1 : SPELLED[every[1]] ?? Number(every[1]);
    return { name: slug(what), prompt: what, schedule: `*/${count}${every[2][0]}` };
  }
  const [, hour = "9", minute = "00"] = daily;
  return { name: slug(what), prompt: what, schedule: `daily@${hour.padStart(2, "0")}:${minute}` };
}

/** What is to be done, without when. */
function whatOf(ask) {
  const rest = ask
    .replace(/\b(?:in|after|every) (?:[a-z-]+|\d+) (?:minute|hour)s?\b/i, "")
    .replace(/\bevery (?:minute|hour|day|morning|evening|night)\b(?: at \d{1,2}(?::\d\d)?)?/i, "")
    .replace(/\b(?:please )?remind me\b/i, "")
    .replace(/^[\s,:;.-]+|[\s,:;.-]+$/g, "")
    .replace(/^(?:to|that|about)\s+/i, "")
    .replace(/\s+/g, " ")
    .trim();
  return rest || "this is the reminder that you asked for";
}
