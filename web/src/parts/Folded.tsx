/** Long machine text: complete, with hidden characters marked. What doesn't fit is counted, never cut silently. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Icon } from "./Icons";
import { LongText } from "./LongText";

const MOST = 14;
/** Evidence is shown in full, unless it is really long. */
const MOST_EVIDENCE = 300;
/** Longer output is drawn only as far as it is near the screen. */
const LONG = 1000;

/** `evidence`: what was not on the screen counts as unseen. */
export function Machine({ text, label, evidence = false, most = evidence ? MOST_EVIDENCE : MOST }: { text: string; most?: number; label?: string; evidence?: boolean }) {
  const open = useSignal(false);
  const lines = useMemo(() => reveal(text.replace(/\n$/, "")).split("\n"), [text]);
  const rest = lines.length - most;
  const folds = rest > 3;
  const shown = folds && !open.value ? lines.slice(0, most) : lines;
  return (
    <div class="machine" data-evidence={evidence || undefined} data-rest={folds && !open.value ? rest : undefined}>
      {shown.length > LONG && !evidence ? (
        <LongText lines={shown} label={label} />
      ) : (
        <pre tabIndex={0} aria-label={label}>
          {shown.map((line, at) => (
            <Marked key={at} line={at < shown.length - 1 ? `${line}\n` : line} />
          ))}
        </pre>
      )}
      {folds && <More open={open.value} rest={rest} toggle={() => (open.value = !open.value)} />}
    </div>
  );
}

export function More({ open, rest, toggle }: { open: boolean; rest: number; toggle: () => void }) {
  return (
    <button type="button" class="more" aria-expanded={open} onClick={toggle}>
      {open ? t("page.show_less") : t("page.more_lines", { count: rest })}
    </button>
  );
}

const MARK = /(⟨(?:U\+[0-9A-F]{4,6}|\d+ (?:blanks|empty lines))⟩)/;

/** A line with highlighted marks for hidden characters. */
export function Marked({ line }: { line: string }) {
  if (!line.includes("⟨")) return <>{line}</>;
  return <>{line.split(MARK).map((piece, at) => (at % 2 ? <mark key={at}>{piece}</mark> : piece))}</>;
}

/** Something that unfolds; its contents are drawn only once it was opened. */
export function Unfolds({ title, children, open = false, tag }: { title: ComponentChildren; children: () => ComponentChildren; open?: boolean; tag?: string }) {
  const shown = useSignal(open);
  return (
    <details class={`unfolds ${tag ?? ""}`} open={open} onToggle={(event) => (shown.value = event.currentTarget.open)}>
      <summary>
        <Icon name="right" />
        <span>{title}</span>
      </summary>
      {shown.value && <div class="unfolded">{children()}</div>}
    </details>
  );
}
