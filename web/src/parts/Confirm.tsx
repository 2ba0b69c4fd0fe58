/** A button for what can't be undone: it asks for confirmation in place. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../texts";

export function Confirm({ label, really, act, disabled = false }: { label: string; really: string; act: () => void; disabled?: boolean }) {
  const asked = useSignal(false);
  const first = useRef<HTMLButtonElement>(null);
  const touched = useRef(false);
  // The pressed button is gone: the focus moves to the one in its place.
  useEffect(() => {
    if (touched.current) first.current?.focus();
    touched.current = true;
  }, [asked.value]);
  if (!asked.value)
    return (
      <button type="button" class="danger quiet small" ref={first} disabled={disabled} onClick={() => (asked.value = true)}>
        {label}
      </button>
    );
  return (
    <span class="row-of-buttons" role="group" aria-label={really}>
      <button type="button" class="quiet small" ref={first} onClick={() => (asked.value = false)}>
        {t("page.cancel")}
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
