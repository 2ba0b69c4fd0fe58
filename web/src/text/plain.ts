/** Recognizes HTML that is harmless, which is most of it. All other HTML is sanitized. Pure. */

/** A tag other than bare prose tags, or an entity other than the five that every escaping makes. */
const NOT_PROSE = /<(?!\/?(?:p|br|hr|em|strong|del|code|pre|ul|ol|li|blockquote|h[1-6])>)|&(?!(?:amp|lt|gt|quot|#39);)/;
/** A tag other than those that color code. */
const NOT_COLOURED = /<(?!\/span>|span class="hljs[\w -]*">)|&(?!(?:amp|lt|gt|quot|#x27);)/;

/** Whether it has only text and bare prose tags: no attribute, so no URL and no script. */
export function isProse(html: string): boolean {
  return !NOT_PROSE.test(html);
}

/** Whether it has only text and colors. */
export function isColoured(html: string): boolean {
  return !NOT_COLOURED.test(html);
}
