/** When a person doesn't want to be notified. */
import { useSignal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Overview, QuietHours as Quiet } from "../../generated/api";
import { Alert } from "../../parts/Alert";
import { Field, Select, SubmitForm, TextField, Tick } from "../../parts/Form";
import { ask } from "../../store/http";
import { moment } from "../../text/times";
import { t } from "../../texts";
import { Loading, Trouble } from "../read";
import { BASE, useRunner, type Reach } from "./reading";
import { Saved } from "./Saved";

const PATH = `${BASE}/quiet-hours`;

export function QuietHours({ reach }: { reach: Reach }) {
  const overview = reach.overview.value.value;
  // Outlives the form, which is redrawn from what was saved.
  const saved = useSignal(false);
  return (
    <section class="panel stack" aria-labelledby="quiet-title">
      <div>
        <h2 id="quiet-title">{t("notifications.quiet.title")}</h2>
        <p class="quiet-text">{t("notifications.quiet.hint")}</p>
      </div>
      <Trouble reading={reach.overview} />
      {overview ? <Form key={JSON.stringify(overview.quiet_hours)} overview={overview} reach={reach} saved={saved} /> : <Loading reading={reach.overview} />}
    </section>
  );
}

function Form({ overview, reach, saved }: { overview: Overview; reach: Reach; saved: Signal<boolean> }) {
  const now = overview.quiet_hours;
  const draft = useSignal<Required<Quiet>>({ start: "22:00", end: "07:00", time_zone: ownZone(), urgent_gets_through: true, ...now });
  const { trouble, busy, run } = useRunner(reach.again);
  const set = (part: Partial<Quiet>) => {
    saved.value = false;
    draft.value = { ...draft.value, ...part };
  };
  const save = async () => (saved.value = await run(() => ask("PUT", PATH, draft.value)));
  const turnOff = async () => (saved.value = !(await run(() => ask("DELETE", PATH))) && saved.value);
  const { start, end, time_zone, urgent_gets_through } = draft.value;
  return (
    <SubmitForm class="stack" submit={save}>
      {!now && <p>{t("notifications.quiet.off")}</p>}
      {overview.quiet_until && <p>{t("notifications.quiet.now", { time: moment(overview.quiet_until) })}</p>}
      <div class="quiet-times">
        <Field label={t("notifications.quiet.from")}>
          <TextField type="time" required value={start} change={(next) => set({ start: next })} />
        </Field>
        <Field label={t("notifications.quiet.to")}>
          <TextField type="time" required value={end} change={(next) => set({ end: next })} />
        </Field>
        <Zone value={time_zone} change={(next) => set({ time_zone: next })} />
      </div>
      <div>
        <Tick checked={urgent_gets_through} change={(next) => set({ urgent_gets_through: next })}>
          {t("notifications.quiet.urgent")}
        </Tick>
        <p class="quiet-text">{t("notifications.quiet.urgent_hint")}</p>
      </div>
      <Alert text={trouble.value} />
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={busy.value}>
          {now ? t("page.save") : t("notifications.quiet.turn_on")}
        </button>
        {now && (
          <button type="button" disabled={busy.value} onClick={turnOff}>
            {t("notifications.quiet.turn_off")}
          </button>
        )}
        <Saved saved={saved.value} />
      </div>
    </SubmitForm>
  );
}

function Zone({ value, change }: { value: string; change: (zone: string) => void }) {
  const zones = useMemo(() => [...new Set([ownZone(), value, "UTC", ...Intl.supportedValuesOf("timeZone")])].sort(), [value]);
  return (
    <Field label={t("notifications.quiet.zone")}>
      <Select value={value} change={change} options={zones.map((each) => [each, each.replaceAll("_", " ")])} />
    </Field>
  );
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
