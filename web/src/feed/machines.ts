/** What is known of machines and of what waits for them, and how a feed item changes it. Pure. */
import type { Instruction, Item, MachineSummary } from "./model";

export type KnownMachines = ReadonlyMap<string, MachineSummary>;
export type KnownInstructions = ReadonlyMap<string, Instruction>;

/** The machines after this item; the same map if nothing changed. */
export function changeMachines(machines: KnownMachines, item: Item): KnownMachines {
  if (item.type !== "machine.changed") return machines;
  const { machine, forgotten } = item;
  const changed = new Map(machines);
  if (forgotten) changed.delete(machine.id);
  else changed.set(machine.id, { sessions: 0, open_asks: 0, here: false, ...machines.get(machine.id), ...machine });
  return changed;
}

/** What is not done yet after this item. */
export function changeInstructions(waiting: KnownInstructions, item: Item): KnownInstructions {
  if (item.type === "instruction.given" && item.session !== null) {
    const { instruction: id, session, at, kind, value, machine, by, source } = item;
    return new Map(waiting).set(id, { id, session, at, kind: kind as Instruction["kind"], value, machine, by, source, text: "", state: "waiting" });
  }
  if (item.type !== "instruction.settled" || !waiting.has(item.instruction)) return waiting;
  const changed = new Map(waiting);
  changed.delete(item.instruction);
  return changed;
}
