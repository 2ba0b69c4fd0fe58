/** A button that copies a text, and says whether that worked. */
import { useSignal } from "@preact/signals";
import { t } from "../texts";
import { Icon } from "./Icons";

export function Copy({ text, label }: { text: string; label?: string }) {
  const done = useSignal<boolean | null>(null);
  const copy = async () => {
    done.value = await put(text);
    setTimeout(() => (done.value = null), 1500);
  };
  return (
    <button type="button" class="quiet copy" onClick={copy} aria-label={label ?? t("page.copy")} title={label ?? t("page.copy")}>
      <Icon name={done.value === null ? "copy" : done.value ? "check" : "warning"} />
      <span class="unseen" role="status">
        {done.value === null ? "" : done.value ? t("page.copied") : t("page.copy_failed")}
      </span>
    </button>
  );
}

/** A page over plain http has no clipboard, and a browser may refuse it. */
async function put(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
