/** Says that a form was saved, until it is changed. */
import { t } from "../../texts";

export function Saved({ saved }: { saved: boolean }) {
  if (!saved) return null;
  return (
    <span class="quiet-text" role="status">
      {t("notifications.saved")}
    </span>
  );
}
