/** Recognizes HTML that is harmless, which is most of it. All other HTML is sanitized. Pure. */

/** A tag that is not one of prose, bare, or an entity that is not one of the five that every escaping makes. */
const NOT_PROSE = /<(?!\/?(?:p|br|hr|em|strong|del|code|pre|ul|ol|li|blockquote|h[1-6])>)|&(?!(?:amp|lt|gt|quot|#39);)/;
/** A tag that is not one that colours code. */
const NOT_COLOURED = /<(?!\/span>|span class="hljs[\w -]*">)|&(?!(?:amp|lt|gt|quot|#x27);)/;

/** Whether there is nothing in it but letters and bare tags of prose: no attribute, so no address and no script. */
export function isProse(html: string): boolean {
  return !NOT_PROSE.test(html);
}

/** Whether there is nothing in it but letters and colours. */
export function isColoured(html: string): boolean {
  return !NOT_COLOURED.test(html);
}
