/** Claude's text. What draws it is loaded with the first one. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { reveal } from "../text/reveal";

interface MarkdownProps {
  text: string;
  /** For evidence: every hidden character shows. */
  strict?: boolean;
}

const drawn = signal<{ Prose: FunctionComponent<MarkdownProps> } | "failed" | null>(null);
let loading: Promise<void> | undefined;

/** Early, if a text is about to be shown. */
export function loadMarkdown(): Promise<void> {
  loading ??= import("./Prose").then(
    (part) => void (drawn.value = part),
    () => {
      drawn.value = "failed";
      loading = undefined;
    },
  );
  return loading;
}

export function Markdown({ text, strict = false }: MarkdownProps) {
  if (drawn.value !== null && drawn.value !== "failed") return <drawn.value.Prose text={text} strict={strict} />;
  void loadMarkdown();
  // Evidence is always there to be read. Anything else would flicker.
  return <div class={`prose as-written${strict || drawn.value ? "" : " soon"}`}>{reveal(text)}</div>;
}
