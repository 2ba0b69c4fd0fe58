/** The escalation chain as a picture: what would happen to a request raised now. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Channel, Preview, PreviewRow, PreviewStep } from "../../generated/api";
import { Field, Select, Tick } from "../../parts/Form";
import { Icon } from "../../parts/Icons";
import { projects } from "../../store/desk";
import { reveal } from "../../text/reveal";
import { moment } from "../../text/times";
import { t } from "../../texts";
import { Loading, Trouble, useResource } from "../read";
import { iconOf, ReachIcon } from "./icons";
import { BASE, type Reach } from "./reading";
import { channelName, effectOf, personName, whenOf } from "./words";

const KINDS = ["permission", "question", "plan", "form", "trust"] as const;

interface RequestFacts {
  project: string;
  kind: (typeof KINDS)[number];
  danger: boolean;
}

export function Picture({ reach }: { reach: Reach }) {
  const facts = useSignal<RequestFacts>({ project: "", kind: "permission", danger: false });
  const reading = useResource<Preview>(`${BASE}/preview?${queryOf(facts.value)}`);
  const changed = reach.changed.value;
  useEffect(() => {
    if (changed) reading.again();
  }, [changed]);
  const channels = new Map((reach.channels.value.value?.channels ?? []).map((each) => [each.id, each]));
  const preview = reading.value.value;
  return (
    <section class="panel stack" aria-labelledby="picture-title">
      <div>
        <h2 id="picture-title">{t("notifications.picture.title")}</h2>
        {preview && <p class="quiet-text">{t("notifications.picture.hint", { time: moment(preview.now) })}</p>}
      </div>
      <FactsForm facts={facts.value} set={(part) => (facts.value = { ...facts.value, ...part })} />
      <Trouble reading={reading} />
      {!preview && <Loading reading={reading} />}
      {preview && (
        <ol class="chain" aria-label={t("notifications.picture.chain")}>
          {preview.steps.map((step, at) => (
            <Step key={at} step={step} channels={channels} />
          ))}
          <li class="chain-end quiet-text">{t("notifications.picture.end")}</li>
        </ol>
      )}
      <Unreached reach={reach} />
    </section>
  );
}

function queryOf({ project, kind, danger }: RequestFacts): string {
  const query = new URLSearchParams({ kind });
  if (project) query.set("project", project);
  if (kind === "permission" && danger) query.set("danger", "yes");
  return String(query);
}

function FactsForm({ facts, set }: { facts: RequestFacts; set: (part: Partial<RequestFacts>) => void }) {
  return (
    <div class="filters chain-facts">
      {projects.value.length > 0 && (
        <Field label={t("notifications.picture.project")}>
          <Select
            value={facts.project}
            change={(project) => set({ project })}
            options={[["", t("notifications.picture.any_project")], ...projects.value.map((each) => [each.id, reveal(each.name)] as const)]}
          />
        </Field>
      )}
      <Field label={t("notifications.picture.kind")}>
        <Select value={facts.kind} change={(kind) => set({ kind: kind as RequestFacts["kind"] })} options={KINDS.map((each) => [each, t(`card.kind.${each}`)])} />
      </Field>
      <Tick checked={facts.kind === "permission" && facts.danger} disabled={facts.kind !== "permission"} change={(danger) => set({ danger })}>
        {t("notifications.picture.danger")}
      </Tick>
    </div>
  );
}

function Step({ step, channels }: { step: PreviewStep; channels: ReadonlyMap<string, Channel> }) {
  return (
    <li class={step.rows.some(({ effect }) => effect === "sent") ? "chain-step sends" : "chain-step"}>
      <p class="chain-when">
        <strong>{whenOf(step.after)}</strong> <time dateTime={step.at}>{moment(step.at)}</time>
        {step.urgency === "high" && <span class="chain-urgent">{t("notifications.picture.urgent")}</span>}
      </p>
      <ul class="chain-rows">
        {step.rows.map((row, at) => (
          <Row key={at} row={row} channel={channels.get(row.channel)} />
        ))}
      </ul>
    </li>
  );
}

const MARKS = { sent: "check", shown: "check", later: "clock", held: "close", not_sent: "close" } as const;

function Row({ row, channel }: { row: PreviewRow; channel: Channel | undefined }) {
  const isFailing = row.effect === "sent" && Boolean(channel?.trouble);
  return (
    <li class={`chain-row ${isFailing ? "failed" : row.effect.replace("_", "-")}`}>
      <ReachIcon name={iconOf(row.channel, channel?.kind)} />
      <span class="chain-who">
        {channelName(row)} <span class="quiet-text">{personName(row.person)}</span>
      </span>
      <span class="chain-effect">
        <Icon name={isFailing ? "warning" : MARKS[row.effect]} />
        <span>{effectOf(row, isFailing)}</span>
      </span>
    </li>
  );
}

/** While nothing but open pages reaches this person: how to change that. */
function Unreached({ reach }: { reach: Reach }) {
  const overview = reach.overview.value.value;
  if (!overview || overview.devices || overview.channels || overview.telegram) return null;
  return (
    <p class="in-words">
      {t("notifications.picture.alone")}{" "}
      <a data-inside href="/admin/settings">
        {t("page.admin.page.settings")}
      </a>
      .
    </p>
  );
}
