// Tells which cron triggers fire in a minute, as Cloudflare reads them: UTC, five fields, and days
// of the week from 1, which is Sunday.
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const FIELDS = [
  { low: 0, high: 59, value: (date) => date.getUTCMinutes() },
  { low: 0, high: 23, value: (date) => date.getUTCHours() },
  { low: 1, high: 31, value: (date) => date.getUTCDate() },
  { low: 1, high: 12, names: MONTHS, value: (date) => date.getUTCMonth() + 1 },
  { low: 1, high: 7, names: WEEKDAYS, value: (date) => date.getUTCDay() + 1 },
];
const [DAY, WEEKDAY] = [2, 4];

/** Return a function that tells whether the cron fires in a Date's minute; throw if it is unread. */
export function parseCron(cron) {
  const texts = cron.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) throw new Error(`cron "${cron}": five fields, please`);
  const sets = texts.map((text, index) => parseField(text, FIELDS[index], cron));
  const restricted = (index) => !texts[index].startsWith("*");
  return (date) => {
    const hits = sets.map((set, index) => set.has(FIELDS[index].value(date)));
    const either = restricted(DAY) && restricted(WEEKDAY);
    const day = either ? hits[DAY] || hits[WEEKDAY] : hits[DAY] && hits[WEEKDAY];
    return hits[0] && hits[1] && hits[3] && day;
  };
}

function parseField(text, { low, high, names = [] }, cron) {
  const set = new Set();
  const number = (word) => {
    const named = names.indexOf(word.toUpperCase());
    const value = named >= 0 ? named + 1 : /^\d+$/.test(word) ? Number(word) : NaN;
    if (!(value >= low && value <= high)) throw new Error(`cron "${cron}": cannot read "${text}"`);
    return value;
  };
  for (const part of text.split(",")) {
    const [range, step = "1"] = part.split("/");
    const [first, last = part.includes("/") ? String(high) : first] =
      range === "*" ? [String(low), String(high)] : range.split("-");
    for (let value = number(first); value <= number(last); value += number(step)) set.add(value);
  }
  return set;
}
