// Markdown into tokens, by marked: without HTML, and within bounds.
import { lexer } from "marked";

const LONGEST = 60_000;
// The parser's time grows with the square of these.
const MOST_MARKS = 1_000;

/** The tokens of a text; null where it is too long, too marked up or too deep to be parsed. */
export function tokensOf(text) {
  if (text.length > LONGEST || (text.match(/[*_~`[]/g)?.length ?? 0) > MOST_MARKS) return null;
  try {
    return lexer(text, { gfm: true, breaks: true });
  } catch {
    return null;
  }
}
