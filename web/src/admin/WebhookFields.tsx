/** The fields of a webhook: its address, and what it gets. */
import type { Webhook } from "../generated/api";
import { Field, TextField, Tick } from "../parts/Form";
import { projects } from "../store/desk";
import { reveal } from "../text/reveal";
import { t } from "../texts";

type EventName = Webhook["events"][number];

const EVENTS: readonly EventName[] = ["ask.opened", "ask.settled", "ask.expired", "ask.delivered", "session.started", "session.ended", "turn.ended", "notification.failed"];

/** The inputs of a webhook. No events and no projects mean all of them. */
export interface WebhookDraft {
  name: string;
  url: string;
  events: EventName[];
  projects: string[];
  content: boolean;
}

export const NO_WEBHOOK: WebhookDraft = { name: "", url: "", events: [], projects: [], content: false };

export function WebhookFields({ draft, set }: { draft: WebhookDraft; set: (part: Partial<WebhookDraft>) => void }) {
  return (
    <>
      <div class="two">
        <Field label={t("admin.webhooks.url")}>
          <TextField required type="url" placeholder="https://example.com/hook" autocomplete="off" value={draft.url} change={(url) => set({ url })} />
        </Field>
        <Field label={t("admin.name")} hint={t("admin.webhooks.name_hint")}>
          <TextField value={draft.name} change={(name) => set({ name })} />
        </Field>
      </div>
      <Picks
        label={t("admin.webhooks.events")}
        all={t("admin.webhooks.all_events")}
        names={EVENTS.map((each) => [each, each])}
        chosen={draft.events}
        change={(events) => set({ events: events as EventName[] })}
      />
      {projects.value.length > 0 && (
        <Picks
          label={t("admin.webhooks.projects")}
          all={t("admin.webhooks.all_projects")}
          names={projects.value.map((each) => [each.id, reveal(each.name)])}
          chosen={draft.projects}
          change={(chosen) => set({ projects: chosen })}
        />
      )}
      <Tick checked={draft.content} change={(content) => set({ content })}>
        {t("admin.webhooks.content")} <small class="quiet-text">{t("admin.webhooks.content_hint")}</small>
      </Tick>
    </>
  );
}

interface PicksProps {
  label: string;
  all: string;
  names: readonly (readonly [string, string])[];
  chosen: readonly string[];
  change: (chosen: string[]) => void;
}

/** Several of a few; none means all. */
function Picks({ label, all, names, chosen, change }: PicksProps) {
  return (
    <fieldset class="picks">
      <legend>
        {label} <small class="quiet-text">{chosen.length === 0 ? all : ""}</small>
      </legend>
      {names.map(([each, name]) => (
        <Tick key={each} checked={chosen.includes(each)} change={(checked) => change(checked ? [...chosen, each] : chosen.filter((other) => other !== each))}>
          {name}
        </Tick>
      ))}
    </fieldset>
  );
}
