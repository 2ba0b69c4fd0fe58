/** What this browser does: notifications, sound, theme, and leaving. */
import { useSignal } from "@preact/signals";
import { setWishes, wishes } from "../attention";
import { forget } from "../push";
import { me, standing } from "../store/desk";
import { post } from "../store/http";
import { texts as t } from "../texts";
import { setTheme, theme } from "../theme";
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
          <input type="checkbox" checked={wishes.value.notify} onChange={(event) => void setNotify(event.currentTarget.checked)} /> {t.settings.notify}
        </label>
        {denied.value && <p class="note trouble">{t.settings.notifyDenied}</p>}
        <label class="tick">
          <input type="checkbox" checked={wishes.value.sound} onChange={(event) => setWishes({ ...wishes.value, sound: event.currentTarget.checked })} /> {t.settings.sound}
        </label>
        <label class="tick">
          <input type="checkbox" checked={wishes.value.night} onChange={(event) => setWishes({ ...wishes.value, night: event.currentTarget.checked })} /> {t.settings.night}
        </label>
        <label class="field">
          <span>{t.settings.theme}</span>
          <select value={theme.value} onChange={(event) => setTheme(event.currentTarget.value)}>
            {Object.entries(t.settings.themes).map(([name, says]) => (
              <option key={name} value={name}>
                {says}
              </option>
            ))}
          </select>
        </label>
        {me.value && <p class="quiet-text">{t.settings.who(me.value.name, me.value.role)}</p>}
        <div class="row-of-buttons">
          <button
            type="button"
            onClick={async () => {
              await forget();
              await post("/api/logout").catch(() => undefined);
              standing.value = "out";
            }}
          >
            {t.admin.logout}
          </button>
        </div>
      </div>
      <DevicesPanel />
    </>
  );
}
