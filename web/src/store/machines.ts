/** The machines that share this inbox, and what waits for one that is away. With one machine, none of it is shown. */
import { computed, signal } from "@preact/signals";
import type { Instructions, Machines } from "../generated/api";
import { changeInstructions, changeMachines, type KnownInstructions, type KnownMachines } from "../feed/machines";
import type { Item, MachineSummary, Project } from "../feed/model";
import { get } from "./http";

export const machines = signal<KnownMachines>(new Map());
/** What people asked of sessions on other machines and was not done yet. */
export const instructions = signal<KnownInstructions>(new Map());
/** The machine whose requests the inbox shows; empty for all. */
export const inboxMachine = signal("");

export const several = computed(() => machines.value.size > 1);
export const byName = computed(() => [...machines.value.values()].sort((a, b) => a.name.localeCompare(b.name)));
const here = computed(() => byName.value.find((each) => each.here));

/** Whether the inbox's filter lets it through. A filter for a machine that was forgotten lets everything through. */
export function isInInbox(ask: { machine: string }): boolean {
  const wanted = inboxMachine.value;
  return !several.value || !machines.value.has(wanted) || machineOf(ask)?.id === wanted;
}

/** Where a session or a request is. In databases of older versions it has no name, and is here. */
export function machineOf(of: { machine: string } | undefined): MachineSummary | undefined {
  return of && (of.machine ? machines.value.get(of.machine) : here.value);
}

/** The same, if there are several and this one is away. */
export function awayOf(of: { machine: string } | undefined): MachineSummary | undefined {
  const machine = several.value ? machineOf(of) : undefined;
  return machine?.away_since ? machine : undefined;
}

/** Where a project has a directory: the directory by machine. */
export function placesOf(project: Project): Map<string, string> {
  const places = new Map((project.elsewhere ?? []).map((place) => [place.machine, place.path]));
  if (project.path && here.value) places.set(here.value.id, project.path);
  return places;
}

export async function readMachines(): Promise<MachineSummary[]> {
  return (await get<Machines>("/api/machines")).machines;
}

/** What waits for the machine of one session. */
export async function readInstructions(session: string): Promise<void> {
  const read = await get<Instructions>(`/api/sessions/${encodeURIComponent(session)}/instructions`);
  const others = [...instructions.peek()].filter(([, each]) => each.session !== session);
  instructions.value = new Map([...others, ...read.instructions.map((each) => [each.id, each] as const)]);
}

export function takeMachineItem(item: Item): void {
  machines.value = changeMachines(machines.value, item);
  instructions.value = changeInstructions(instructions.value, item);
}
