/** The machine of a session or a request, and what it means that it is away. Nothing is shown if there is only one. */
import { awayOf, machineOf, several } from "../store/machines";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { Icon } from "./Icons";
import { Quoted } from "./Quoted";

export function MachineName({ of }: { of: { machine: string } | undefined }) {
  const name = machineLabel(of);
  return name ? <span class={awayOf(of) ? "on-machine away" : "on-machine"}>{name}</span> : null;
}

/** Its name, or nothing if there is only one. */
export function machineLabel(of: { machine: string } | undefined): string {
  const machine = several.value ? machineOf(of) : undefined;
  if (!machine) return "";
  return machine.away_since ? t("page.machine.named_away", { name: reveal(machine.name) }) : reveal(machine.name);
}

/** Why something isn't possible now; undefined if it is. */
export function awayReason(of: { machine: string } | undefined): string | undefined {
  const machine = awayOf(of);
  return machine && t("page.machine.away", { name: reveal(machine.name) }).replaceAll("`", "");
}

/** A sentence about a machine that is away. */
export function AwayNote({ of, about }: { of: { machine: string } | undefined; about: "card" | "session" }) {
  const machine = awayOf(of);
  if (!machine) return null;
  return (
    <p class={about === "session" ? "away-sign" : "note away-note"} role="status">
      <Icon name="clock" />
      <span>
        <Quoted text={t(`page.machine.away_${about}`, { name: reveal(machine.name) })} />
      </span>
    </p>
  );
}
