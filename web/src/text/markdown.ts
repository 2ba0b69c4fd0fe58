/** Untrusted Markdown as harmless HTML: no raw HTML, no images, links that show where they go. */
import { signal } from "@preact/signals";
import { Marked, type Token, type Tokens } from "marked";
import { isProse, LINKED } from "./plain";
import { belongs, revealLetters, revealProse } from "./reveal";

/** Cleans HTML that isn't known to be harmless. Loaded when there is some, which is rare. */
const sanitizer = signal<((html: string) => string) | null>(null);
let loading: Promise<void> | undefined;

const SAFE = /^(https?:|mailto:)/i;

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<span class="picture">${escaped(text || "picture")} <span class="where">${escaped(href)}</span></span>`,
    link(token) {
      return link(token, this.parser.parseInline(token.tokens));
    },
    // Inside of a list; the other ones are drawn as code.
    code: ({ text }) => `<pre><code>${escaped(text)}\n</code></pre>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** The blocks of a text. Unchanged ones are the same strings as before. */
export function blocksOf(text: string): Token[] {
  return marked.lexer(revealProse(text)).filter((token) => token.type !== "space");
}

/** One block as HTML that may be put into the page. `strict` is for evidence: unusual blanks show, too. */
export function htmlOf(token: Token, strict: boolean): string {
  const made = marked.parser([token]);
  const html = isProse(made) ? made : sanitize(made, token.raw);
  // Again, since an entity (`&#x202e;`) becomes a character only now.
  return strict ? revealLetters(html, belongs) : revealProse(html);
}

/** Until the sanitizer is here, and without it, the block is shown as it was written. */
function sanitize(html: string, written: string): string {
  if (sanitizer.value) return sanitizer.value(html);
  loading ??= import("./sanitizer").then(
    (part) => void (sanitizer.value = part.sanitize),
    () => void (loading = undefined),
  );
  return `<p>${escaped(written)}</p>`;
}

export function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}

function link(token: Tokens.Link, inside: string): string {
  if (!SAFE.test(token.href)) return `${inside} <span class="where">${escaped(token.href)}</span>`;
  const plain = token.text.trim();
  const same = plain === token.href || `mailto:${plain}` === token.href;
  const where = same ? "" : ` <span class="where">${escaped(shorten(token.href))}</span>`;
  return `<a href="${escaped(token.href)}" ${LINKED}>${inside}</a>${where}`;
}

/** Host first and complete: the part of a URL that says who is behind it. */
function shorten(href: string): string {
  const host = /^https?:\/\/([^/?#]*)/i.exec(href)?.[1];
  if (host === undefined) return href;
  const rest = href.slice(href.indexOf(host) + host.length);
  return rest.length > 40 ? `${host}${rest.slice(0, 39)}…` : host + rest;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
