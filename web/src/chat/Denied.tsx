/** A call that Claude Code denied without asking: why, all of its input, and one retry that a person may allow. */
import { useSignal } from "@preact/signals";
import type { ActionEntry, Denial } from "../feed/timeline";
import { Alert } from "../parts/Alert";
import { Confirm } from "../parts/Confirm";
import { Dangers } from "../parts/DangerMark";
import { Machine } from "../parts/Folded";
import { awayReason } from "../parts/MachineName";
import { now } from "../store/clock";
import { may, sessionOf } from "../store/desk";
import { explainError, post } from "../store/http";
import { actorName } from "../text/names";
import { reveal } from "../text/reveal";
import { t } from "../texts";

export function Denied({ entry, denial }: { entry: ActionEntry; denial: Denial }) {
  const { item } = denial;
  return (
    <div class="denied" role="note">
      <strong>{t("page.chat.denied")}</strong>
      <p>{reveal(item.reason)}</p>
      {denial.change ? <p class="quiet-text">{became(denial)}</p> : <AllowIt entry={entry} denial={denial} />}
    </div>
  );
}

function became({ change }: Denial): string {
  const who = change?.by ? actorName(change.by) : "";
  if (change?.state === "allowed") return t("card.denial.allowed", { who });
  if (change?.state === "retried") return t("card.denial.retried", { who });
  return reveal(change?.note ?? "");
}

/** What would run is shown in full, and it takes two presses. */
function AllowIt({ entry, denial: { item } }: { entry: ActionEntry; denial: Denial }) {
  const sent = useSignal(false);
  const trouble = useSignal<string | null>(null);
  const session = item.session === null ? undefined : sessionOf(item.session);
  const late = item.allowable_until == null || now.value >= Date.parse(item.allowable_until);
  if (!session || session.ended || late || !may("approver")) return null;
  const away = awayReason(session);
  const allow = () => {
    sent.value = true;
    trouble.value = null;
    post(`/api/sessions/${encodeURIComponent(session.id)}/denied/${encodeURIComponent(item.action)}/allow`).catch((error) => {
      sent.value = false;
      trouble.value = explainError(error);
    });
  };
  return (
    <>
      <Dangers sentences={item.dangers ?? []} />
      <Machine text={JSON.stringify(entry.started.input, null, 2)} label={t("page.chat.input")} evidence />
      <p class="quiet-text">{t("page.chat.allow_hint")}</p>
      <Confirm label={t("page.chat.allow_it")} really={t("page.chat.allow_once")} act={allow} disabled={sent.value || away !== undefined} />
      {away && <p class="quiet-text">{away}</p>}
      <Alert text={trouble.value} />
    </>
  );
}
