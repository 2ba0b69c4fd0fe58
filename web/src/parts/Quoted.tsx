/** One of our sentences with machine text in backquotes, set apart. Always text, never markup. */

export function Quoted({ text }: { text: string }) {
  return <>{text.split("`").map((piece, at) => (at % 2 ? <code key={at}>{piece}</code> : piece))}</>;
}
