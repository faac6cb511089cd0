// Markdown as elements. A parser reads it into tokens, and each token becomes an element by its name
// here: no HTML is ever made or read, an image is a link to itself, a link goes to the web.
import { Fragment, html, useEffect, useMemo, useState } from "./html.js";

const DEEPEST = 16;
const INLINE = { strong: "strong", em: "em", del: "s" };

const children = (tokens, depth) =>
  tokens.map((token, n) => html`<${Fragment} key=${n}>${element(token, depth + 1)}<//>`);

/** A link to the web, or only its words where it goes anywhere else. */
function link(href, content) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return content;
  const rel = "noopener noreferrer nofollow ugc";
  return html`<a href=${href} title=${href} target="_blank" rel=${rel}>${content}</a>`;
}

function list({ ordered, start, items }, depth) {
  const all = items.map((item, n) => html`<li key=${n}>${children(item.tokens, depth)}</li>`);
  return ordered ? html`<ol start=${start || 1}>${all}</ol>` : html`<ul>${all}</ul>`;
}

function table({ header, rows, align }, depth) {
  const cell =
    (name) =>
    ({ tokens }, n) =>
      html`<${name} key=${n} class=${align[n] ?? ""}>${children(tokens, depth)}<//>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table">
    <table>
      <thead><tr>${header.map(cell("th"))}</tr></thead>
      <tbody>${rows.map((row, n) => html`<tr key=${n}>${row.map(cell("td"))}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** One token as an element; what has no element here is shown as it was written. */
function element(token, depth) {
  if (depth > DEEPEST) return token.raw;
  const inside = () => (token.tokens ? children(token.tokens, depth) : token.text);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return html`<hr />`;
    case "br":
      return html`<br />`;
    case "heading":
      // Of one level, since the page's own outline goes on around it.
      return html`<p class="heading" role="heading" aria-level="2" dir="auto">${inside()}</p>`;
    case "paragraph":
      return html`<p dir="auto">${inside()}</p>`;
    case "blockquote":
      return html`<blockquote dir="auto">${inside()}</blockquote>`;
    case "code":
      return html`<pre tabindex="0" dir="auto"><code>${token.text}</code></pre>`;
    case "codespan":
      return html`<code>${token.text}</code>`;
    case "list":
      return list(token, depth);
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "table":
      return table(token, depth);
    case "link":
      return link(token.href, inside());
    case "image":
      return link(token.href, `image: ${token.text || token.href}`);
    case "strong":
    case "em":
    case "del":
      return html`<${INLINE[token.type]}>${inside()}<//>`;
    case "text":
    case "escape":
      return inside();
    default:
      return token.raw;
  }
}

let parser = null;

/** The parser, once it has come: a file of its own, which most pages never need. */
function useParser() {
  const [tokensOf, come] = useState(() => parser);
  useEffect(() => {
    if (parser) return;
    import("/assets/tokens.js").then((module) => {
      parser = module.tokensOf;
      come(() => parser);
    });
  }, []);
  return tokensOf;
}

/** A text as Markdown; as it was written until the parser is there, or where it has no parse. */
export function Markdown({ text }) {
  const tokensOf = useParser();
  const tokens = useMemo(() => tokensOf?.(text) ?? null, [text, tokensOf]);
  if (tokens === null) return html`<p class="plain" dir="auto">${text}</p>`;
  return html`<div class="markdown">${children(tokens, 0)}</div>`;
}
