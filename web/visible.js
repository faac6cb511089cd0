// Text in which no character hides: for what a button on the page will run.

/** What is not seen, is seen as a blank, or turns the direction of what follows. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const BREAKS = new Set(["\n", "\t"]);

/** A text with each of these written out, as \u{202E}. What is copied or sent is the text itself. */
export const visible = (text) =>
  text.replace(HIDDEN, (hidden) =>
    BREAKS.has(hidden) ? hidden : `\\u{${hidden.codePointAt(0).toString(16).toUpperCase()}}`,
  );
