/** A button that copies a text, and says that it did. */
import { useSignal } from "@preact/signals";
import { texts as t } from "../texts";
import { Icon } from "./Icons";

export function Copy({ text, label }: { text: string; label?: string }) {
  const done = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    done.value = true;
    setTimeout(() => (done.value = false), 1500);
  };
  return (
    <button type="button" class="quiet copy" onClick={copy} aria-label={label ?? t.copy} title={label ?? t.copy}>
      <Icon name={done.value ? "check" : "copy"} />
      <span class="unseen" role="status">
        {done.value ? t.copied : ""}
      </span>
    </button>
  );
}
