/** The progress of an answer given here, or why none can be given. */
import type { Ask } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { may } from "../store/desk";
import { discard, dismiss } from "../store/sending";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { lineOf } from "./Line";
import type { Stage } from "./stage";

export function Progress({ ask, stage }: { ask: Ask; stage: Stage }) {
  switch (stage.is) {
    case "sending":
    case "sent":
      return (
        <p class="note" role="status">
          {t(`page.card.${stage.is}`)}
        </p>
      );
    case "queued":
      return <Queued ask={ask} reason={stage.reason} />;
    case "open":
    case "expired":
    case "withdrawn":
      if (stage.trouble) return <NotUsedNote ask={ask} message={stage.trouble} />;
      return stage.is === "open" && !may("approver") ? <p class="note">{t("page.card.read_only")}</p> : null;
    default:
      return (
        <p class="note">
          <Quoted text={lineOf(ask, stage)} />
        </p>
      );
  }
}

function Queued({ ask, reason }: { ask: Ask; reason: string | null }) {
  return (
    <p class="note unsent" role="status">
      {reason ? t("page.card.unsent_because", { reason: reveal(reason) }) : t("page.card.unsent")}{" "}
      <button type="button" onClick={() => discard(ask.id)}>
        {t("page.card.discard")}
      </button>
    </p>
  );
}

function NotUsedNote({ ask, message }: { ask: Ask; message: string }) {
  return (
    <p class="note trouble" role="alert">
      {reveal(message)}{" "}
      <button type="button" class="quiet" aria-label={t("page.close")} onClick={() => dismiss(ask.id)}>
        <Icon name="close" />
      </button>
    </p>
  );
}
