/** What this browser does: notifications, sound, theme, and signing out. */
import { useSignal } from "@preact/signals";
import { NIGHT, setWishes, wishes } from "../attention";
import { Field, Select, Tick } from "../parts/Form";
import { forget } from "../push";
import { me, standing } from "../store/desk";
import { post } from "../store/http";
import { hourOf } from "../text/times";
import { t } from "../texts";
import { setTheme, THEMES, theme } from "../theme";
import { DevicesPanel } from "./DevicesPanel";
import { TelegramPanel } from "./TelegramPanel";

export function SettingsPage() {
  return (
    <>
      <div class="panel stack">
        <Notifications />
        <Field label={t("admin.browser.theme")}>
          <Select value={theme.value} change={setTheme} options={THEMES.map((name) => [name, t(`admin.browser.themes.${name}`)])} />
        </Field>
        {me.value && <p class="quiet-text">{t("admin.browser.who", { name: me.value.name, role: t(`admin.role.${me.value.role}`) })}</p>}
        <div class="row-of-buttons">
          <button type="button" onClick={logout}>
            {t("admin.browser.logout")}
          </button>
        </div>
      </div>
      <DevicesPanel />
      <TelegramPanel />
    </>
  );
}

function Notifications() {
  const denied = useSignal(false);
  const set = (part: Partial<typeof wishes.value>) => setWishes({ ...wishes.value, ...part });
  const setNotify = async (wanted: boolean) => {
    denied.value = wanted && (typeof Notification === "undefined" || (await Notification.requestPermission()) !== "granted");
    set({ notify: wanted && !denied.value });
  };
  return (
    <>
      <Tick checked={wishes.value.notify} change={setNotify}>
        {t("admin.browser.notify")}
      </Tick>
      {denied.value && <p class="note trouble">{t("admin.browser.notify_denied")}</p>}
      <Tick checked={wishes.value.sound} change={(sound) => set({ sound })}>
        {t("admin.browser.sound")}
      </Tick>
      <Tick checked={wishes.value.night} change={(night) => set({ night })}>
        {t("admin.browser.night", { from: hourOf(NIGHT.from), to: hourOf(NIGHT.to) })}
      </Tick>
    </>
  );
}

async function logout(): Promise<void> {
  await forget();
  await post("/api/logout").catch(() => undefined);
  standing.value = "out";
}
