/** A part of the page that is loaded when it is first needed. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { t } from "../texts";

interface LaterProps<T> {
  load: () => Promise<T>;
  children: (loaded: T) => ComponentChildren;
  /** For a dialog: nothing is in its place until it is here. */
  quiet?: boolean;
}

export function Later<T extends object>({ load, children, quiet = false }: LaterProps<T>) {
  const loaded = useSignal<T | "failed" | null>(null);
  // Before the first paint, not after it: a card should be there at once.
  useMemo(() => {
    load().then(
      (found) => (loaded.value = found),
      () => (loaded.value = "failed"),
    );
  }, []);
  if (loaded.value === null) return quiet ? null : <p class="empty">{t("page.loading")}</p>;
  if (loaded.value !== "failed") return <>{children(loaded.value)}</>;
  // The hub was upgraded and this page is older, or the hub is away.
  return (
    <div class="note trouble" role="alert">
      <p>{t("page.chunk_failed")}</p>
      <button type="button" onClick={() => location.reload()}>
        {t("page.reload")}
      </button>
    </div>
  );
}
