/** Push on this browser, and on a person's other devices: on and off, a test, and what went wrong. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Device } from "../generated/api";
import { install, installable } from "../install";
import { devices, isPushed, NoService, NotAllowed, pushState, refresh, remove, setEnded, switchOff, switchOn, thisDevice, tryOut } from "../push";
import { moment } from "../text/times";
import { explainError } from "../store/http";
import { reveal } from "../text/reveal";
import { t } from "../texts";

interface PanelNote {
  text: string;
  trouble: boolean;
}

type Work = () => Promise<string | null | void>;

export function DevicesPanel() {
  const { notice, busy, run, test } = useDevices();
  useEffect(() => void refresh(), []);
  return (
    <section class="panel stack devices" aria-labelledby="push-title">
      <h2 id="push-title">{t("admin.push.title")}</h2>
      <p class="quiet-text">{t("admin.push.hint")}</p>
      <ThisDevice busy={busy} run={run} test={test} />
      {notice.value && (
        <p class={notice.value.trouble ? "note trouble" : "note"} role={notice.value.trouble ? "alert" : "status"}>
          {reveal(notice.value.text)}
        </p>
      )}
      <DeviceList busy={busy} run={run} shown={notice.value?.text ?? ""} />
      <Install />
    </section>
  );
}

/** Does one thing at a time, and reports the outcome. */
function useDevices() {
  const notice = useSignal<PanelNote | null>(null);
  const busy = useSignal(false);
  const run = async (work: Work) => {
    busy.value = true;
    notice.value = null;
    try {
      const trouble = await work();
      if (trouble) notice.value = { text: trouble, trouble: true };
    } catch (error) {
      notice.value = { text: explain(error), trouble: true };
    }
    busy.value = false;
  };
  const test = (id: string) =>
    run(async () => {
      const trouble = await tryOut(id);
      if (!trouble) notice.value = { text: t("admin.push.tested"), trouble: false };
      return trouble;
    });
  return { notice, busy, run, test };
}

function ThisDevice({ busy, run, test }: { busy: Signal<boolean>; run: (work: Work) => Promise<void>; test: (id: string) => Promise<void> }) {
  const state = pushState.value;
  const here = devices.value.find((each) => each.id === thisDevice.value);
  if (state === "off")
    return (
      <div class="device-here">
        <span class="push-state">{t("admin.push.state.off")}</span>
        <button type="button" class="primary" disabled={busy.value} onClick={() => void run(switchOn)}>
          {t("admin.push.turn_on")}
        </button>
      </div>
    );
  if (state !== "on" || !here) return <p class={state === "loading" ? "quiet-text" : "note"}>{t(`admin.push.state.${state}`)}</p>;
  return (
    <>
      <div class="device-here">
        <span class="push-state on">{t("admin.push.state.on")}</span>
        <div class="row-of-buttons">
          <button type="button" disabled={busy.value} onClick={() => void test(here.id)}>
            {t("admin.push.test")}
          </button>
          <button type="button" disabled={busy.value} onClick={() => void run(switchOff)}>
            {t("admin.push.turn_off")}
          </button>
        </div>
      </div>
      <label class="tick">
        <input type="checkbox" checked={here.kinds.includes("ended")} disabled={busy.value} onChange={(event) => void run(() => setEnded(event.currentTarget.checked))} /> {t("admin.push.ended")}
      </label>
    </>
  );
}

interface DeviceActions {
  busy: Signal<boolean>;
  run: (work: Work) => Promise<void>;
  /** What is already shown above the list. */
  shown: string;
}

function DeviceList(acts: DeviceActions) {
  if (devices.value.length === 0) return null;
  return (
    <>
      <h3>{t("admin.push.devices")}</h3>
      <ul class="device-list">
        {devices.value.map((device) => (
          <DeviceRow key={device.id} device={device} {...acts} />
        ))}
      </ul>
    </>
  );
}

function DeviceRow({ device, busy, run, shown }: DeviceActions & { device: Device }) {
  const here = device.id === thisDevice.value && isPushed.value;
  const label = reveal(device.label);
  return (
    <li class="device">
      <div>
        <span class="device-name">{label}</span>
        {here && <span class="quiet-text"> · {t("admin.push.here")}</span>}
        <p class="quiet-text">
          {t("admin.push.since", { date: moment(device.created_at) })} · {device.last_sent_at ? t("admin.push.last_sent", { date: moment(device.last_sent_at) }) : t("admin.push.never_sent")}
        </p>
        {device.trouble && !(here && device.trouble === shown) && <p class="device-trouble">{reveal(device.trouble)}</p>}
      </div>
      {!here && (
        <button type="button" class="danger quiet" aria-label={t("admin.push.remove_device", { name: label })} disabled={busy.value} onClick={() => void run(() => remove(device.id))}>
          {t("admin.push.remove")}
        </button>
      )}
    </li>
  );
}

function Install() {
  if (!installable.value) return null;
  return (
    <div class="device-here">
      <span class="quiet-text">{t("admin.push.install_hint")}</span>
      <button type="button" onClick={() => void install()}>
        {t("admin.push.install")}
      </button>
    </div>
  );
}

function explain(error: unknown): string {
  if (error instanceof NotAllowed) return t("admin.push.dismissed");
  if (error instanceof NoService) return t("admin.push.no_service");
  return explainError(error);
}
