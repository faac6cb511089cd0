// The emblem: a clock's face whose hands are an order's two strokes.
import { html } from "./html.js";

export const Emblem = () => html`
  <svg class="emblem" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect x="2" y="2" width="28" height="28" rx="8" />
    <path d="M16 8.5V16l5.5 3.5" />
    <path class="faint" d="M8.5 23.5h15" />
  </svg>
`;
