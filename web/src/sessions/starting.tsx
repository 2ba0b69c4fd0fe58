/** Whether a new session is being started. The dialog is loaded when it is first needed. */
import { signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog } from "../parts/Dialog";
import { t } from "../texts";

export const starting = signal(false);

export function Starting() {
  const loaded = useSignal<{ Shown: FunctionComponent } | null>(null);
  useEffect(() => {
    import("./NewSession").then(
      (found) => (loaded.value = { Shown: found.NewSessionDialog }),
      () => (loaded.value = { Shown: Failed }),
    );
  }, []);
  const Shown = loaded.value?.Shown;
  return Shown ? <Shown /> : null;
}

/** The hub was upgraded and this page is older, or the hub is away. */
function Failed() {
  return (
    <Dialog title={t("page.nav.new_session")} close={() => (starting.value = false)}>
      <p>{t("page.chunk_failed")}</p>
      <div class="row-of-buttons">
        <button type="button" onClick={() => location.reload()}>
          {t("page.reload")}
        </button>
      </div>
    </Dialog>
  );
}
