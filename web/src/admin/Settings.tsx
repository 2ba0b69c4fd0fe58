/** What this browser does: notifications, sound, theme, and leaving. */
import { useSignal } from "@preact/signals";
import { NIGHT, setWishes, wishes } from "../attention";
import { forget } from "../push";
import { me, standing } from "../store/desk";
import { post } from "../store/http";
import { hourOf } from "../text/times";
import { t } from "../texts";
import { setTheme, THEMES, theme } from "../theme";
import { DevicesPanel } from "./DevicesPanel";

export function SettingsPage() {
  const denied = useSignal(false);
  const setNotify = async (wanted: boolean) => {
    denied.value = false;
    if (wanted && (typeof Notification === "undefined" || (await Notification.requestPermission()) !== "granted")) denied.value = true;
    setWishes({ ...wishes.value, notify: wanted && !denied.value });
  };
  return (
    <>
      <div class="panel stack">
        <label class="tick">
          <input type="checkbox" checked={wishes.value.notify} onChange={(event) => void setNotify(event.currentTarget.checked)} /> {t("admin.browser.notify")}
        </label>
        {denied.value && <p class="note trouble">{t("admin.browser.notify_denied")}</p>}
        <label class="tick">
          <input type="checkbox" checked={wishes.value.sound} onChange={(event) => setWishes({ ...wishes.value, sound: event.currentTarget.checked })} /> {t("admin.browser.sound")}
        </label>
        <label class="tick">
          <input type="checkbox" checked={wishes.value.night} onChange={(event) => setWishes({ ...wishes.value, night: event.currentTarget.checked })} />{" "}
          {t("admin.browser.night", { from: hourOf(NIGHT.from), to: hourOf(NIGHT.to) })}
        </label>
        <label class="field">
          <span>{t("admin.browser.theme")}</span>
          <select value={theme.value} onChange={(event) => setTheme(event.currentTarget.value)}>
            {THEMES.map((name) => (
              <option key={name} value={name}>
                {t(`admin.browser.themes.${name}`)}
              </option>
            ))}
          </select>
        </label>
        {me.value && <p class="quiet-text">{t("admin.browser.who", { name: me.value.name, role: t(`admin.role.${me.value.role}`) })}</p>}
        <div class="row-of-buttons">
          <button
            type="button"
            onClick={async () => {
              await forget();
              await post("/api/logout").catch(() => undefined);
              standing.value = "out";
            }}
          >
            {t("admin.browser.logout")}
          </button>
        </div>
      </div>
      <DevicesPanel />
    </>
  );
}
