// The view layer: Preact's elements by tagged templates, and its hooks. Text is always text here: no
// part of the pages makes markup out of a string.
import htm from "../vendor/htm.js";
import { h } from "../vendor/preact.js";

export { Fragment, render } from "../vendor/preact.js";
export {
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/hooks.js";

export const html = htm.bind(h);

/** Join the class names that hold. */
export const classes = (...names) => names.filter(Boolean).join(" ");
