/** A button for what cannot be undone: it asks once more, in its own place. */
import { useSignal } from "@preact/signals";
import { texts as t } from "../texts";

export function Confirm({ says, really, act, disabled = false }: { says: string; really: string; act: () => void; disabled?: boolean }) {
  const asked = useSignal(false);
  if (!asked.value)
    return (
      <button type="button" class="danger quiet small" disabled={disabled} onClick={() => (asked.value = true)}>
        {says}
      </button>
    );
  return (
    <span class="row-of-buttons" role="group" aria-label={really}>
      <button type="button" class="quiet small" autofocus onClick={() => (asked.value = false)}>
        {t.cancel}
      </button>
      <button
        type="button"
        class="danger small"
        onClick={() => {
          asked.value = false;
          act();
        }}
      >
        {really}
      </button>
    </span>
  );
}
