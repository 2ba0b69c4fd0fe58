/** Recognizes HTML that is harmless, which is most of it. All other HTML is sanitized. Pure. */

/** What a link has besides its address. */
export const LINKED = 'target="_blank" rel="noopener noreferrer nofollow"';
const BARE = "\\/?(?:p|br|hr|em|strong|del|code|pre|ul|ol|li|blockquote|h[1-6]|table|thead|tbody|tr|t[hd])";
const ADDRESS = "(?:https?:|mailto:)[^\"'<>\\s`]*";
const WITH_ATTRIBUTE = `a href="${ADDRESS}" ${LINKED}|ol start="\\d{1,9}"|t[hd] align="(?:left|right|center)"|span class="(?:where|picture)"|\\/a|\\/span`;
/** A tag other than prose tags, all written exactly as we write them, or an entity other than those that every escaping makes. */
const NOT_PROSE = new RegExp(`<(?!(?:${BARE}|${WITH_ATTRIBUTE})>)|&(?!(?:amp|lt|gt|quot|#3[489]|#6[02]);)`);
/** A tag other than those that color code. */
const NOT_COLOURED = /<(?!\/span>|span class="hljs[\w -]*">)|&(?!(?:amp|lt|gt|quot|#x27);)/;

/** Whether it has only text, prose tags, and links to the web: no other attribute, so no script. */
export function isProse(html: string): boolean {
  return !NOT_PROSE.test(html);
}

/** Whether it has only text and colors. */
export function isColoured(html: string): boolean {
  return !NOT_COLOURED.test(html);
}
