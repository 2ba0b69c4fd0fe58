/** The channels of a person, and shared ones: what they are, whether they work, and how to change that. */
import { useSignal, type Signal } from "@preact/signals";
import type { Channel, ChannelProbed, ChannelTried } from "../../generated/api";
import { Alert } from "../../parts/Alert";
import { Confirm } from "../../parts/Confirm";
import { Icon } from "../../parts/Icons";
import { Quoted } from "../../parts/Quoted";
import { may, me } from "../../store/desk";
import { ask, post } from "../../store/http";
import { reveal } from "../../text/reveal";
import { moment } from "../../text/times";
import { t } from "../../texts";
import { Loading, Trouble } from "../read";
import { ChannelDialog } from "./ChannelDialog";
import { ReachIcon } from "./icons";
import { BASE, useRunner, type Reach } from "./reading";

export function Channels({ reach }: { reach: Reach }) {
  const editing = useSignal<Channel | "new" | null>(null);
  const known = reach.channels.value.value;
  const edited = editing.value;
  return (
    <section class="panel stack" aria-labelledby="channels-title">
      <div>
        <h2 id="channels-title">{t("notifications.channels.title")}</h2>
        <p class="quiet-text">{t("notifications.channels.hint")}</p>
      </div>
      <Trouble reading={reach.channels} />
      {!known && <Loading reading={reach.channels} />}
      {known?.channels.length === 0 && <p class="quiet-text">{t("notifications.channels.none")}</p>}
      {known && known.channels.length > 0 && (
        <ul class="channel-list">
          {known.channels.map((channel) => (
            <OneChannel key={channel.id} channel={channel} reach={reach} edit={() => (editing.value = channel)} />
          ))}
        </ul>
      )}
      <Add open={() => (editing.value = "new")} />
      {edited && known && <ChannelDialog channel={edited === "new" ? null : edited} kinds={known.kinds} done={reach.again} close={() => (editing.value = null)} />}
    </section>
  );
}

function Add({ open }: { open: () => void }) {
  if (!may("approver")) return <p class="quiet-text">{t("notifications.channels.read_only")}</p>;
  return (
    <div class="row-of-buttons">
      <button type="button" class="primary" onClick={open}>
        <Icon name="plus" /> {t("notifications.channels.add")}
      </button>
    </div>
  );
}

function OneChannel({ channel, reach, edit }: { channel: Channel; reach: Reach; edit: () => void }) {
  const outcome = useSignal<{ ok: boolean; text: string } | null>(null);
  const shown = outcome.value;
  return (
    <li class="channel">
      <ReachIcon name={channel.kind} />
      <div class="channel-facts">
        <p>
          <strong>{reveal(channel.name)}</strong> <span class="quiet-text">{reveal(channel.describes)}</span>
        </p>
        <p class="quiet-text">{[ownerOf(channel), contentOf(channel), sentOf(channel)].join(" · ")}</p>
        {channel.trouble && channel.trouble !== shown?.text && (
          <p class="trouble">
            <Quoted text={t("notifications.channels.failing", { reason: reveal(channel.trouble) })} />
          </p>
        )}
        {shown && (
          <p class={shown.ok ? "channel-well" : "trouble"} role={shown.ok ? "status" : "alert"}>
            <Quoted text={reveal(shown.text)} />
          </p>
        )}
        {mayChange(channel) && <ChannelActions channel={channel} reach={reach} edit={edit} outcome={outcome} />}
      </div>
    </li>
  );
}

function ownerOf({ owner }: Channel): string {
  if (owner === null) return t("notifications.channels.shared");
  return owner === me.value?.name ? t("notifications.channels.mine") : t("notifications.channels.of", { name: reveal(owner) });
}

function contentOf(channel: Channel): string {
  return channel.with_content ? t("notifications.channels.with_content") : t("notifications.channels.without_content");
}

function sentOf({ last_sent_at: at }: Channel): string {
  return at ? t("notifications.channels.last_sent", { date: moment(at) }) : t("notifications.channels.never_sent");
}

function mayChange({ owner }: Channel): boolean {
  return may("admin") || (may("approver") && owner !== null && owner === me.value?.name);
}

interface ActionProps {
  channel: Channel;
  reach: Reach;
  edit: () => void;
  outcome: Signal<{ ok: boolean; text: string } | null>;
}

function ChannelActions({ channel, reach, edit, outcome }: ActionProps) {
  const { trouble, busy, run } = useRunner(reach.again);
  const doing = useSignal<"test" | "check" | null>(null);
  const path = `${BASE}/channels/${encodeURIComponent(channel.id)}`;
  const attempt = async (what: "test" | "check", work: () => Promise<{ ok: boolean; text: string }>) => {
    outcome.value = null;
    doing.value = what;
    await run(async () => (outcome.value = await work()));
    doing.value = null;
  };
  const test = () =>
    attempt("test", async () => {
      const { sent, trouble: why } = await post<ChannelTried>(`${path}/test`);
      return { ok: sent, text: why ?? t("notifications.channels.tested") };
    });
  const check = () =>
    attempt("check", async () => {
      const { ok, detail } = await post<ChannelProbed>(`${path}/probe`);
      return { ok, text: detail };
    });
  const named = (action: string) => t("notifications.channels.act_on", { action, name: reveal(channel.name) });
  return (
    <>
      <Alert text={trouble.value} />
      <div class="row-of-buttons">
        <button type="button" class="small" disabled={busy.value} aria-label={named(t("notifications.channels.test"))} onClick={test}>
          {doing.value === "test" ? t("notifications.channels.testing") : t("notifications.channels.test")}
        </button>
        <button type="button" class="small" disabled={busy.value} aria-label={named(t("notifications.channels.check"))} onClick={check}>
          {doing.value === "check" ? t("notifications.channels.checking") : t("notifications.channels.check")}
        </button>
        <button type="button" class="small" disabled={busy.value} aria-label={named(t("notifications.channels.edit"))} onClick={edit}>
          {t("notifications.channels.edit")}
        </button>
        <Confirm disabled={busy.value} label={t("notifications.channels.remove")} really={t("notifications.channels.remove_confirm")} act={() => void run(() => ask("DELETE", path))} />
      </div>
    </>
  );
}
