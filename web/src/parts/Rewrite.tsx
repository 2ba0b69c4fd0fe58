/** A field for editing Claude's text: hidden characters are marked, and line endings stay as they are. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { markTyped } from "../text/editing";
import { t } from "../texts";

interface RewriteProps {
  label: string;
  /** Made by `toField`, and changed since. */
  field: string;
  change: (field: string) => void;
  /** The original text. */
  before: string;
  done: () => void;
  leave: () => void;
  most?: number;
}

export function Rewrite({ label, field, change, before, done, leave, most = 18 }: RewriteProps) {
  const input = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const take = (element: HTMLTextAreaElement) => {
    const marked = markTyped(element.value);
    if (marked !== element.value) {
      const caret = markTyped(element.value.slice(0, element.selectionEnd)).length;
      element.value = marked;
      element.setSelectionRange(caret, caret);
    }
    change(marked);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        ref={input}
        class="mono"
        spellcheck={false}
        rows={Math.min(most, Math.max(3, field.split("\n").length + 1))}
        value={field}
        onInput={(event) => (event.isComposing ? change(event.currentTarget.value) : take(event.currentTarget))}
        onCompositionEnd={(event) => take(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === "Escape") leave();
          else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            done();
          }
        }}
      />
      {/⟨U\+[0-9A-F]{4,6}⟩/.test(field) && <small class="quiet-text">{t("page.card.marks_preserved")}</small>}
      {before.includes("\r\n") && <small class="quiet-text">{t("page.card.endings_preserved")}</small>}
    </label>
  );
}
