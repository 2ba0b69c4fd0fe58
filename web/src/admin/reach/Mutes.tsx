/** What is muted, until when, and for whom. */
import { useSignal } from "@preact/signals";
import type { Mute } from "../../generated/api";
import { Alert } from "../../parts/Alert";
import { Field, Select, SubmitForm, Tick } from "../../parts/Form";
import { Table } from "../../parts/Table";
import { may, projects, sessionOf } from "../../store/desk";
import { ask, post } from "../../store/http";
import { pathOf } from "../../store/place";
import { reveal } from "../../text/reveal";
import { moment } from "../../text/times";
import { t } from "../../texts";
import { Loading, Trouble } from "../read";
import { muteBody, SPANS, spanName, type MuteSpan } from "./muting";
import { BASE, useRunner, type Reach } from "./reading";

export function Mutes({ reach }: { reach: Reach }) {
  const mutes = reach.mutes.value.value?.mutes;
  return (
    <section class="panel stack" aria-labelledby="mutes-title">
      <div>
        <h2 id="mutes-title">{t("notifications.mutes.title")}</h2>
        <p class="quiet-text">{t("notifications.mutes.hint")}</p>
      </div>
      <Trouble reading={reach.mutes} />
      {!mutes && <Loading reading={reach.mutes} />}
      {mutes?.length === 0 && <p class="quiet-text">{t("notifications.mutes.none")}</p>}
      {mutes && mutes.length > 0 && <MuteTable mutes={mutes} reach={reach} />}
      {projects.value.length > 0 && <MuteProject reach={reach} />}
    </section>
  );
}

function MuteTable({ mutes, reach }: { mutes: readonly Mute[]; reach: Reach }) {
  const { trouble, busy, run } = useRunner(reach.again);
  const heads = [t("notifications.mutes.what"), t("notifications.mutes.until"), t("notifications.mutes.whom"), t("notifications.mutes.by")];
  const unmute = (mute: Mute) => void run(() => ask("DELETE", `${BASE}/mutes/${encodeURIComponent(mute.id)}`));
  return (
    <>
      <Alert text={trouble.value} />
      <Table label={t("notifications.mutes.what")} heads={heads} acts>
        {mutes.map((mute) => (
          <tr key={mute.id}>
            <td class="detail">
              <Muted mute={mute} />
            </td>
            <td>{mute.until ? moment(mute.until) : t("notifications.mutes.no_end")}</td>
            <td>{mute.for_everyone ? t("notifications.mutes.everyone") : t("notifications.you")}</td>
            <td class="detail">{reveal(mute.by)}</td>
            <td>
              {(!mute.for_everyone || may("admin")) && (
                <button type="button" class="quiet small" disabled={busy.value} aria-label={t("notifications.mutes.unmute_named", { name: nameOf(mute) })} onClick={() => unmute(mute)}>
                  {t("notifications.mutes.unmute")}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Muted({ mute }: { mute: Mute }) {
  if (mute.session === null) return <>{nameOf(mute)}</>;
  return (
    <a data-inside href={pathOf({ view: "session", id: mute.session })}>
      {nameOf(mute)}
    </a>
  );
}

function nameOf({ session, project }: Mute): string {
  if (session !== null) return t("notifications.mutes.session", { name: reveal(sessionOf(session)?.title ?? session) });
  return t("notifications.mutes.project", { name: reveal(projects.value.find((each) => each.id === project)?.name ?? project ?? "") });
}

function MuteProject({ reach }: { reach: Reach }) {
  const project = useSignal(projects.value[0]?.id ?? "");
  const span = useSignal<MuteSpan>("hour");
  const everyone = useSignal(false);
  const { trouble, busy, run } = useRunner(reach.again);
  const mute = () => run(() => post(`${BASE}/mutes`, { project: project.value, for_everyone: everyone.value, ...muteBody(span.value, new Date()) }));
  return (
    <SubmitForm class="stack" submit={mute} aria-label={t("notifications.mutes.mute_project")}>
      <div class="mute-form">
        <Field label={t("notifications.mutes.choose")}>
          <Select value={project.value} change={(next) => (project.value = next)} options={projects.value.map((each) => [each.id, reveal(each.name)])} />
        </Field>
        <Field label={t("notifications.mutes.how_long")}>
          <Select value={span.value} change={(next) => (span.value = next as MuteSpan)} options={SPANS.map((each) => [each, spanName(each)])} />
        </Field>
        {may("admin") && (
          <Tick checked={everyone.value} change={(next) => (everyone.value = next)}>
            {t("notifications.mutes.for_everyone")}
          </Tick>
        )}
        <button type="submit" disabled={busy.value}>
          {t("notifications.mutes.mute")}
        </button>
      </div>
      <Alert text={trouble.value} />
    </SubmitForm>
  );
}
