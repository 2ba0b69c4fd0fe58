/** Webhooks: which addresses get events, how they are, and what was sent to them. */
import "../styles/webhooks.css";
import { useSignal, type Signal } from "@preact/signals";
import type { Delivery, MadeWebhook, Webhook, Webhooks } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Copy } from "../parts/Copy";
import { SubmitForm } from "../parts/Form";
import { may, projects } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { listed, moment } from "../text/times";
import { t } from "../texts";
import { Loading, Trouble, useResource, type Resource } from "./read";
import { attemptOf, DeliveryList } from "./Deliveries";
import { NO_WEBHOOK, WebhookFields, type WebhookDraft } from "./WebhookFields";

export function WebhooksPage() {
  const reading = useResource<Webhooks>("/api/webhooks");
  const list = reading.value.value?.webhooks;
  return (
    <>
      <p class="lead">{t("admin.webhooks.hint")}</p>
      <Trouble reading={reading} />
      {may("admin") && <NewWebhook reading={reading} />}
      {!list && <Loading reading={reading} />}
      {list?.length === 0 && <p class="empty">{t("admin.webhooks.none")}</p>}
      {list?.map((webhook) => (
        <OneWebhook key={webhook.id} webhook={webhook} reading={reading} />
      ))}
    </>
  );
}

function NewWebhook({ reading }: { reading: Resource<Webhooks> }) {
  const draft = useSignal(NO_WEBHOOK);
  const secret = useSignal<string | null>(null);
  const create = async () => {
    secret.value = null;
    const added = await reading.act(async () => (secret.value = (await post<MadeWebhook>("/api/webhooks", bodyOf(draft.value))).secret));
    if (added) draft.value = NO_WEBHOOK;
  };
  return (
    <SubmitForm class="panel stack" submit={create}>
      <h2>{t("admin.webhooks.new")}</h2>
      <WebhookFields draft={draft.value} set={(part) => (draft.value = { ...draft.value, ...part })} />
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("admin.webhooks.new")}
        </button>
      </div>
      {secret.value && <Secret secret={secret.value} />}
    </SubmitForm>
  );
}

function bodyOf({ name, url, events, projects, content }: WebhookDraft): object {
  return { name: name.trim() || hostOf(url), url: url.trim(), events, projects, content };
}

function hostOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).host : url.trim().slice(0, 60);
}

function Secret({ secret }: { secret: string }) {
  return (
    <div class="secret" role="status">
      <p>{t("admin.webhooks.secret")}</p>
      <code>{secret}</code>
      <Copy text={secret} />
    </div>
  );
}

function OneWebhook({ webhook, reading }: { webhook: Webhook; reading: Resource<Webhooks> }) {
  const editing = useSignal<WebhookDraft | null>(null);
  const secret = useSignal<string | null>(null);
  /** Counts what was sent from here, so that the list below is read again. */
  const sent = useSignal(0);
  const note = useSignal("");
  const name = reveal(webhook.name);
  return (
    <section class="panel stack devices webhook" aria-label={name}>
      <div class="device-here">
        <div>
          <h2>{name}</h2>
          <p class="quiet-text webhook-url">{reveal(webhook.url)}</p>
        </div>
        <State webhook={webhook} />
      </div>
      {webhook.trouble && webhook.state !== "off" && <p class="device-trouble">{reveal(webhook.trouble)}</p>}
      <p class="quiet-text">{factsOf(webhook)}</p>
      {may("admin") && <Actions webhook={webhook} reading={reading} editing={editing} secret={secret} sent={sent} note={note} />}
      {note.value && (
        <p class="note" role="status">
          {note.value}
        </p>
      )}
      {secret.value && <Secret secret={secret.value} />}
      {editing.value && <EditForm webhook={webhook} reading={reading} editing={editing} />}
      {may("admin") && <DeliveryList webhook={webhook} sent={sent} reading={reading} />}
    </section>
  );
}

function State({ webhook: { state, queued } }: { webhook: Webhook }) {
  const dot = { on: "working", failing: "failed", off: "", gone: "failed" }[state];
  return (
    <span class="online">
      <span class={`dot ${dot}`} /> {t(`admin.webhooks.state.${state}`)}
      {queued > 0 && <span class="quiet-text"> · {t("admin.webhooks.queued", { count: queued })}</span>}
    </span>
  );
}

function factsOf(webhook: Webhook): string {
  const named = webhook.projects.map((id) => reveal(projects.value.find((each) => each.id === id)?.name ?? id));
  const facts = [
    webhook.events.length ? listed([...webhook.events]) : t("admin.webhooks.all_events"),
    named.length ? listed(named) : t("admin.webhooks.all_projects"),
    webhook.content ? t("admin.webhooks.with_content") : t("admin.webhooks.without_content"),
    webhook.last_sent_at ? t("admin.webhooks.last_sent", { date: moment(webhook.last_sent_at) }) : t("admin.webhooks.never_sent"),
  ];
  if (webhook.old_secret_until && Date.parse(webhook.old_secret_until) > Date.now()) facts.push(t("admin.webhooks.old_secret", { date: moment(webhook.old_secret_until) }));
  return facts.join(" · ");
}

interface ActionProps {
  webhook: Webhook;
  reading: Resource<Webhooks>;
  editing: Signal<WebhookDraft | null>;
  secret: Signal<string | null>;
  sent: Signal<number>;
  /** What a test led to. */
  note: Signal<string>;
}

function Actions({ webhook, reading, editing, secret, sent, note }: ActionProps) {
  const busy = useSignal(false);
  const path = pathOf(webhook);
  const act = async (work: () => Promise<unknown>) => {
    busy.value = true;
    note.value = "";
    await reading.act(work);
    sent.value += 1;
    busy.value = false;
  };
  const test = async () => {
    const last = (await post<Delivery>(`${path}/test`)).attempts.at(-1);
    if (last) note.value = last.problem ? attemptOf(last) : t("admin.webhooks.tested", { outcome: attemptOf(last) });
  };
  const enabled = webhook.state === "on" || webhook.state === "failing";
  return (
    <div class="row-of-buttons">
      <button type="button" disabled={busy.value} onClick={() => void act(test)}>
        {busy.value ? t("admin.webhooks.sending") : t("admin.webhooks.test")}
      </button>
      <button type="button" disabled={busy.value} onClick={() => void act(() => ask("PATCH", path, { enabled: !enabled }))}>
        {enabled ? t("admin.webhooks.turn_off") : t("admin.webhooks.turn_on")}
      </button>
      <button type="button" class="quiet" disabled={busy.value} aria-expanded={editing.value !== null} onClick={() => (editing.value = editing.value ? null : draftOf(webhook))}>
        {t("admin.webhooks.edit")}
      </button>
      <Confirm
        label={t("admin.webhooks.rotate")}
        really={t("admin.webhooks.rotate_confirm")}
        disabled={busy.value}
        act={() => void act(async () => (secret.value = (await post<MadeWebhook>(`${path}/secret`)).secret))}
      />
      <Confirm label={t("admin.webhooks.remove")} really={t("admin.webhooks.remove_confirm")} disabled={busy.value} act={() => void act(() => ask("DELETE", path))} />
    </div>
  );
}

function draftOf({ name, url, events, projects, content }: Webhook): WebhookDraft {
  return { name, url, events: [...events], projects: [...projects], content };
}

function EditForm({ webhook, reading, editing }: { webhook: Webhook; reading: Resource<Webhooks>; editing: Signal<WebhookDraft | null> }) {
  const draft = editing.value ?? NO_WEBHOOK;
  const save = async () => {
    if (await reading.act(() => ask("PATCH", pathOf(webhook), bodyOf(draft)))) editing.value = null;
  };
  return (
    <SubmitForm class="stack" submit={save}>
      <WebhookFields draft={draft} set={(part) => (editing.value = { ...draft, ...part })} />
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("page.save")}
        </button>
        <button type="button" class="quiet" onClick={() => (editing.value = null)}>
          {t("page.cancel")}
        </button>
      </div>
    </SubmitForm>
  );
}

export function pathOf(webhook: { id: string }): string {
  return `/api/webhooks/${encodeURIComponent(webhook.id)}`;
}
