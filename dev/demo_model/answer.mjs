// What the demo model answers: which of its parts a conversation is for, by the tools it offers.
import { personal } from "./personal.mjs";
import { research } from "./research.mjs";
import { ship } from "./ship.mjs";
import { sort } from "./sort.mjs";
import { askOf, resultsOf, say } from "./talk.mjs";

/** The assistant's message for a chat-completions request. */
export function answer({ messages, tools = [] }) {
  const offered = new Map(tools.map((each) => [each.function.name, each.function]));
  const ask = askOf(messages);
  const results = resultsOf(messages);
  if (offered.has("unsure")) return sort(ask, offered);
  if (offered.has("schedule")) return personal(ask, offered, results);
  if (offered.has("open_pull_request")) return ship(ask, results);
  if (offered.has("list_advisories")) return research(ask, offered, results);
  return say(`I follow a few rules, and none of them is for a turn with no tools. You asked: ${ask}`);
}
