/** The machines that share this inbox: which are online, what runs there, and how to rename or forget one. */
import { useSignal } from "@preact/signals";
import type { MachineSummary } from "../feed/model";
import { Confirm } from "../parts/Confirm";
import { Table } from "../parts/Table";
import { TextDialog } from "../parts/TextDialog";
import { now } from "../store/clock";
import { may, openAsks, sessions } from "../store/desk";
import { ask, explainError } from "../store/http";
import { byName, machineOf } from "../store/machines";
import { reveal } from "../text/reveal";
import { moment, span } from "../text/times";
import { t } from "../texts";
import { Trouble } from "./read";

export function MachinesPage() {
  const renaming = useSignal<MachineSummary | null>(null);
  const trouble = useSignal<string | null>(null);
  const heads = [t("admin.name"), t("admin.machines.state"), t("admin.machines.version"), t("admin.machines.sessions"), t("admin.machines.open_asks"), t("admin.machines.limit")];
  const forget = (machine: MachineSummary) => {
    trouble.value = null;
    ask("DELETE", pathOf(machine)).catch((error) => (trouble.value = explainError(error)));
  };
  return (
    <>
      <p class="lead">{t("admin.machines.hint")}</p>
      <Trouble reading={{ trouble }} />
      <Table label={t("page.admin.page.machines")} heads={heads} acts={may("admin")}>
        {byName.value.map((machine) => (
          <OneMachine key={machine.id} machine={machine} rename={() => (renaming.value = machine)} forget={() => forget(machine)} />
        ))}
      </Table>
      {renaming.value && <Rename machine={renaming.value} close={() => (renaming.value = null)} />}
    </>
  );
}

function OneMachine({ machine, rename, forget }: { machine: MachineSummary; rename: () => void; forget: () => void }) {
  const running = [...sessions.value.values()].filter((session) => !session.ended && machineOf(session)?.id === machine.id).length;
  const waiting = openAsks.value.filter((each) => machineOf(each)?.id === machine.id).length;
  return (
    <tr>
      <td>
        {reveal(machine.name)} {machine.here && <span class="quiet-text">{t("admin.machines.here")}</span>}
      </td>
      <td>
        <State machine={machine} />
      </td>
      <td>{reveal(machine.version)}</td>
      <td>{running}</td>
      <td>{waiting}</td>
      <td>{machine.limit || t("admin.machines.gateway")}</td>
      {may("admin") && (
        <td>
          <div class="row-of-buttons">
            <button type="button" class="quiet small" aria-label={t("admin.machines.rename_named", { name: reveal(machine.name) })} onClick={rename}>
              {t("admin.machines.rename")}
            </button>
            {machine.away_since && <Confirm label={t("admin.machines.forget")} really={t("admin.machines.forget_confirm")} act={forget} />}
          </div>
        </td>
      )}
    </tr>
  );
}

function State({ machine: { away_since } }: { machine: MachineSummary }) {
  if (!away_since)
    return (
      <span class="online">
        <span class="dot working" /> {t("admin.machines.online")}
      </span>
    );
  return (
    <span class="online" title={span(now.value - Date.parse(away_since))}>
      <span class="dot" /> {t("admin.machines.away_since", { time: moment(away_since) })}
    </span>
  );
}

function Rename({ machine, close }: { machine: MachineSummary; close: () => void }) {
  return <TextDialog title={t("admin.machines.rename_title")} first={machine.name} button={t("page.save")} close={close} submit={(name) => ask("PATCH", pathOf(machine), { name: name.trim() })} />;
}

function pathOf(machine: MachineSummary): string {
  return `/api/machines/${encodeURIComponent(machine.id)}`;
}
