// What a begun command may become: command names first, then the names of schedules.

const MOST = 8;
const NAMED = /^(schedule (?:remove|fire|pause|resume|show) )(\S*)$/i;

/** Suggestions for what was typed: `[{text, hint}]`, each a whole text to take its place. */
export function suggest(typed, commands, schedules) {
  const begun = typed.trimStart().toLowerCase();
  if (!begun || begun.includes("\n")) return [];
  const named = NAMED.exec(typed.trimStart());
  if (named) {
    const [, command, part] = named;
    return schedules
      .filter(({ kind, name }) => kind === "stored" && name.startsWith(part) && name !== part)
      .slice(0, MOST)
      .map(({ name, describe }) => ({ text: command + name, shown: name, hint: describe ?? "" }));
  }
  return commands
    .filter(({ name }) => name.startsWith(begun) && name !== begun.trimEnd())
    .slice(0, MOST)
    .map(({ name, summary }) => ({ text: `${name} `, shown: name, hint: summary }));
}

/** The command that a text is, by its longest matching name. */
export function commandOf(typed, commands) {
  const text = typed.trimStart().toLowerCase();
  return commands
    .filter(({ name }) => text === name || text.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)[0];
}
