// The view layer: Preact's elements by tagged templates, and its hooks. Text is always text: no part
// of the pages makes markup out of a string.
import htm from "htm";
import { h } from "preact";

export { Fragment, render } from "preact";
export {
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";

export const html = htm.bind(h);

/** Join the class names that hold. */
export const classes = (...names) => names.filter(Boolean).join(" ");
