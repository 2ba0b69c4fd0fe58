/** The Telegram bot: whether it is connected, and what to do if not. */
import type { TelegramState } from "../generated/api";
import { Quoted } from "../parts/Quoted";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Loading, Trouble, useResource } from "./read";

export function TelegramPanel() {
  const reading = useResource<TelegramState>("/api/telegram");
  const state = reading.value.value;
  return (
    <section class="panel stack" aria-labelledby="telegram-title">
      <h2 id="telegram-title">{t("admin.telegram.title")}</h2>
      <Trouble reading={reading} />
      {state ? <Bot state={state} /> : <Loading reading={reading} />}
    </section>
  );
}

function Bot({ state }: { state: TelegramState }) {
  if (!state.enabled)
    return (
      <p class="quiet-text">
        {t("admin.telegram.off")} <code>handraise telegram setup</code>
      </p>
    );
  return (
    <>
      {state.trouble ? <TroubleNote trouble={state.trouble} /> : <Connected bot={state.bot} elsewhere={state.is_elsewhere} />}
      {state.waiting > 0 && <p class="quiet-text">{t("admin.telegram.waiting", { count: state.waiting })}</p>}
      {state.chats.map(({ chat, reason }) => (
        <p key={chat} class="note trouble">
          {t("admin.telegram.chat", { chat: String(chat), reason: reveal(reason) })}
        </p>
      ))}
    </>
  );
}

function TroubleNote({ trouble }: { trouble: string }) {
  return (
    <p class="note trouble">
      <Quoted text={reveal(trouble)} />
    </p>
  );
}

function Connected({ bot, elsewhere }: { bot: string; elsewhere: boolean }) {
  if (elsewhere) return <p class="quiet-text">{t("admin.telegram.elsewhere")}</p>;
  if (!bot) return <p class="quiet-text">{t("admin.telegram.connecting")}</p>;
  return (
    <p>
      {t("admin.telegram.connected")}{" "}
      <a href={`https://t.me/${encodeURIComponent(bot)}`} target="_blank" rel="noreferrer">
        @{reveal(bot)}
      </a>
    </p>
  );
}
