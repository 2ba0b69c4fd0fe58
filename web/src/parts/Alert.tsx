/** What went wrong, shown where it happened. */
import { reveal } from "../text/reveal";

export function Alert({ text }: { text: string | null }) {
  if (!text) return null;
  return (
    <p class="note trouble" role="alert">
      {reveal(text)}
    </p>
  );
}
