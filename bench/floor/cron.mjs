// The first fire strictly after a time, in UTC, for the plain expressions that the bench stores.

const FIELDS = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]];
const parsed = new Map();

function parse(text) {
  if (!parsed.has(text)) {
    parsed.set(text, text.split(" ").map((field, place) => values(field, ...FIELDS[place])));
  }
  return parsed.get(text);
}

function values(field, low, high) {
  const found = new Set();
  for (const part of field.split(",")) {
    const [range, step = "1"] = part.split("/");
    const [from, to = from] = range === "*" ? [low, high] : range.split("-").map(Number);
    for (let value = from; value <= to; value += Number(step)) found.add(value);
  }
  return found;
}

/** `text` in five fields, `after` in epoch milliseconds; null when nothing fires within four years. */
export function nextFire(text, after) {
  const [minutes, hours, days, months, weekdays] = parse(text);
  const at = new Date(after - (after % 60_000) + 60_000);
  const end = after + 4 * 366 * 86_400_000;
  while (at.getTime() <= end) {
    if (!months.has(at.getUTCMonth() + 1) || !days.has(at.getUTCDate()) || !weekdays.has(at.getUTCDay())) {
      at.setUTCHours(24, 0, 0, 0);
    } else if (!hours.has(at.getUTCHours())) {
      at.setUTCMinutes(60, 0, 0);
    } else if (!minutes.has(at.getUTCMinutes())) {
      at.setUTCMinutes(at.getUTCMinutes() + 1);
    } else {
      return at.getTime();
    }
  }
  return null;
}
