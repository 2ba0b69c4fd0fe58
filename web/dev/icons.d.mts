/** Names and contents of the icons, drawn from the SVG. */
export function drawIcons(svg: string): [string, Uint8Array][];
