/** Mutes the notifications about a session, or ends that. */
import { useSignal } from "@preact/signals";
import type { Session } from "../feed/model";
import type { Mute, Mutes } from "../generated/api";
import { muteBody, SPANS, spanName, type MuteSpan } from "../admin/reach/muting";
import { BASE, useRunner, type Runner } from "../admin/reach/reading";
import { Loading, useResource } from "../admin/read";
import { Alert } from "../parts/Alert";
import { Dialog } from "../parts/Dialog";
import { Tick } from "../parts/Form";
import { may } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";

export function MuteDialog({ session, close }: { session: Session; close: () => void }) {
  const reading = useResource<Mutes>(`${BASE}/mutes`);
  const runner = useRunner(close);
  const mutes = reading.value.value?.mutes;
  const known = mutes?.filter((each) => each.session === session.id) ?? [];
  return (
    <Dialog title={t("notifications.mutes.dialog")} close={close}>
      <p>{t("notifications.mutes.dialog_hint")}</p>
      <Alert text={reading.trouble.value ?? runner.trouble.value} />
      {!mutes && <Loading reading={reading} />}
      {known.map((mute) => (
        <Muted key={mute.id} mute={mute} runner={runner} />
      ))}
      {mutes?.some((each) => each.project !== null && each.project === session.project) && <p>{t("notifications.mutes.project_muted")}</p>}
      {mutes && !known.length && <Choices session={session} runner={runner} />}
    </Dialog>
  );
}

function Muted({ mute, runner: { busy, run } }: { mute: Mute; runner: Runner }) {
  const until = mute.until ? t("notifications.mutes.is_muted", { time: moment(mute.until) }) : t("notifications.mutes.is_muted_open");
  return (
    <>
      <p role="status">
        {until} {mute.for_everyone && t("notifications.mutes.by_everyone", { name: reveal(mute.by) })}
      </p>
      {(!mute.for_everyone || may("admin")) && (
        <div class="row-of-buttons">
          <button type="button" class="primary" disabled={busy.value} onClick={() => void run(() => ask("DELETE", `${BASE}/mutes/${encodeURIComponent(mute.id)}`))}>
            {t("notifications.mutes.unmute")}
          </button>
        </div>
      )}
    </>
  );
}

function Choices({ session, runner: { busy, run } }: { session: Session; runner: Runner }) {
  const everyone = useSignal(false);
  const mute = (span: MuteSpan) => run(() => post(`${BASE}/mutes`, { session: session.id, for_everyone: everyone.value, ...muteBody(span, new Date()) }));
  return (
    <>
      {may("admin") && (
        <Tick checked={everyone.value} change={(next) => (everyone.value = next)}>
          {t("notifications.mutes.for_everyone")}
        </Tick>
      )}
      <div class="row-of-buttons">
        {SPANS.map((span) => (
          <button key={span} type="button" disabled={busy.value} onClick={() => void mute(span)}>
            {spanName(span)}
          </button>
        ))}
      </div>
    </>
  );
}
