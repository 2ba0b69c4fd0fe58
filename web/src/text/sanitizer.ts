/** Makes any HTML harmless. For what `plain.ts` doesn't recognize: entities with names, mostly. */
import DOMPurify from "dompurify";

const TAGS = "p br hr em strong del code pre a ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr th td span".split(" ");
const SAFE = /^(https?:|mailto:)/i;

export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "class", "start", "align"],
    ALLOWED_URI_REGEXP: SAFE,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  const wanted = node.getAttribute("class");
  if (wanted !== null && !/^(picture|where)$/.test(wanted)) node.removeAttribute("class");
});
