// Reading a conversation, and answering in it.

const NAME = "demo model";

/** The last thing that was asked, without what was quoted before it. */
export function askOf(messages) {
  const last = messages.findLast((each) => each.role === "user");
  const text = textOf(last?.content);
  const quoted = text.lastIndexOf("\n\nNow: ");
  return plain(quoted < 0 ? text : text.slice(quoted + "\n\nNow: ".length)).trim();
}

/** Every tool call that was answered: `{name, args, text}`, oldest first. */
export function resultsOf(messages) {
  const calls = new Map(messages.flatMap((each) => each.tool_calls ?? []).map((each) => [each.id, each.function]));
  return messages
    .filter((each) => each.role === "tool")
    .map((each) => {
      const { name, arguments: written } = calls.get(each.tool_call_id) ?? { name: "", arguments: "{}" };
      return { name, args: JSON.parse(written || "{}"), text: unfenced(textOf(each.content)) };
    });
}

/** The last word. It says what it comes from. */
export const say = (text) => ({ role: "assistant", content: `${NAME}: ${text}` });

/** One or several calls, each `[name, arguments]`. */
export const call = (...calls) => ({
  role: "assistant",
  content: `${NAME}: I call ${calls.map(([name]) => name).join(", ")}`,
  tool_calls: calls.map(([name, args], index) => ({
    id: `demo-${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  })),
});

/** Straight quotes and plain dashes for what chat clients make of them. */
export const plain = (text) =>
  text.replace(/[“”„]/g, '"').replace(/[‘’]/g, "'").replace(/[‐‑‒–—]/g, "-").replace(/\u00a0/g, " ");

/** The first words of a text as a name: `list-the-dependencies`. */
export function slug(text, words = 3) {
  const kept = text.toLowerCase().match(/[a-z0-9]+/g) ?? ["note"];
  return kept.slice(0, words).join("-").slice(0, 40);
}

/** The one repository that a text names, or undefined. */
export const repoIn = (text) => /(?<![\w./:-])([A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]*[A-Za-z0-9_-])/.exec(text)?.[1];

function unfenced(text) {
  return text.replace(/^<<<DATA \w+ from [^\n]*\n/, "").replace(/\nDATA \w+>>>[^\n]*$/, "");
}

function textOf(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}
