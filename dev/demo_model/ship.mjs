// The role ship: carries out a plan whose steps it can read, which are of two kinds:
//   In FILE set NAME to VALUE.        changes the value of a quoted name
//   Say in FILE what was fixed.       adds a line at the file's top
import { call, say } from "./talk.mjs";

/** The next message of a ship turn. `ask` is the plan's path. */
export function ship(ask, results) {
  const plan = results.find((each) => each.name === "read_file" && each.args.path === ask);
  if (!plan) return results.length === 0 ? call(["read_file", { path: ask }]) : say("I could not read the plan.");
  if (!plan.text.includes("lines 1 to ")) return say(`there is no plan to carry out. ${plan.text}`);
  const steps = bodyOf(plan.text).split("\n").map(readStep).filter(Boolean);
  if (steps.length === 0) return say(`no step of ${ask} is of a kind that I know, so nothing was changed.`);
  for (const step of steps) {
    const written = results.find((each) => each.name === "write_file" && each.args.path === step.file);
    if (written) continue;
    const read = results.find((each) => each.name === "read_file" && each.args.path === step.file);
    if (!read) return call(["read_file", { path: step.file }]);
    const content = step.change(read.text.includes("lines 1 to ") ? bodyOf(read.text) : "");
    return call(["write_file", { path: step.file, content, message: step.message }]);
  }
  const opened = results.find((each) => each.name === "open_pull_request");
  const failed = results.filter((each) => each.name === "write_file" && /^[a-z_]+: /.test(each.text));
  if (failed.length > 0) return say(`a change was refused, so I opened no pull request. ${failed[0].text}`);
  if (opened) return say(`${ask} is carried out. ${opened.text}`);
  const title = /^#\s*(?:Plan:\s*)?(.+)$/m.exec(bodyOf(plan.text))?.[1] ?? `Carry out ${ask}`;
  const body = `Carried out by the demo model:\n\n${steps.map((step) => `- ${step.message}`).join("\n")}`;
  return call(["open_pull_request", { title: title.slice(0, 200), body }]);
}

function readStep(line) {
  const set = /\bIn (\S+) set (\S+) to (\S+?)\.?$/.exec(line);
  if (set) {
    const [, file, name, value] = set;
    const quoted = new RegExp(`("${name.replace(/[^\w]/g, "\\$&")}"\\s*:\\s*")[^"]*(")`);
    return { file, message: `Set ${name} to ${value} in ${file}`, change: (text) => text.replace(quoted, `$1${value}$2`) };
  }
  const told = /\bSay in (\S+) what was fixed\b/.exec(line);
  if (!told) return null;
  return { file: told[1], message: `Say in ${told[1]} what was fixed`, change: (text) => `- Updated dependencies with a known advisory.\n${text}` };
}

/** A file's text, without the line that says where it is from. */
const bodyOf = (text) => text.slice(text.indexOf("\n") + 1);
