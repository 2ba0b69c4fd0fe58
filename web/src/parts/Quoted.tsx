/** A sentence of ours with what a machine said between backquotes, set apart. Always text, never markup. */

export function Quoted({ text }: { text: string }) {
  return <>{text.split("`").map((piece, at) => (at % 2 ? <code key={at}>{piece}</code> : piece))}</>;
}
