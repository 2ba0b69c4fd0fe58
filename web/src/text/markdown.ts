/** Untrusted Markdown as harmless HTML: no raw HTML, no images, links that show where they go. */
import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { isProse } from "./plain";
import { revealLetters, revealTurns } from "./reveal";

const TAGS = [
  "p",
  "br",
  "hr",
  "em",
  "strong",
  "del",
  "code",
  "pre",
  "a",
  "ul",
  "ol",
  "li",
  "blockquote",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "span",
  "input",
];
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
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** The blocks of a text. Unchanged ones are the same strings as before. */
export function blocksOf(text: string): Token[] {
  return marked.lexer(revealTurns(text)).filter((token) => token.type !== "space");
}

/** The first Markdown parse is the slowest, so it runs while nothing else waits. */
export function warmUp(): void {
  for (const token of blocksOf("# a\n\nb *c* **d** `e` [f](https://g.h)\n\n- i\n\n> j\n\n| k |\n|---|\n| l |\n\n```\nm\n```")) htmlOf(token, false);
}

/** One block as HTML that may be put into the page. `strict` is for evidence: every hidden character shows. */
export function htmlOf(token: Token, strict: boolean): string {
  const made = marked.parser([token]);
  const html = isProse(made) ? made : sanitize(made);
  // Again, since an entity (`&#x202e;`) becomes a character only now.
  return strict ? revealLetters(html) : revealTurns(html);
}

function sanitize(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "class", "start", "align"],
    ALLOWED_URI_REGEXP: SAFE,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

export function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  const wanted = node.getAttribute("class");
  if (wanted !== null && !/^(picture|where)$/.test(wanted)) node.removeAttribute("class");
});

function link(token: Tokens.Link, inside: string): string {
  if (!SAFE.test(token.href)) return `${inside} <span class="where">${escaped(token.href)}</span>`;
  const plain = token.text.trim();
  const same = plain === token.href || `mailto:${plain}` === token.href;
  const where = same ? "" : ` <span class="where">${escaped(shorten(token.href))}</span>`;
  return `<a href="${escaped(token.href)}">${inside}</a>${where}`;
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
