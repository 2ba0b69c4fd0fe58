/** An escalation chain while it is edited: its steps as they are typed, and as the hub expects them. Pure. */
import type { ChainStep } from "../../generated/api";
import { readDelay, writeDelay } from "./delays";

export type Target = ChainStep["targets"][number];

export interface StepDraft {
  /** Stays the same while it is moved. */
  key: number;
  delay: string;
  targets: readonly Target[];
}

export interface StepErrors {
  delay?: "bad_delay";
  targets?: "no_targets";
}

export const MOST_STEPS = 10;
export const MOST_TARGETS = 10;
const FIRST_DELAYS = [0, 120, 900, 3600, 4 * 3600, 86_400];

export function draftOf(steps: readonly ChainStep[]): StepDraft[] {
  return steps.map(({ after, targets }, key) => ({ key, delay: writeDelay(after), targets }));
}

export function errorsOf(draft: readonly StepDraft[]): StepErrors[] {
  return draft.map((step) => ({
    ...(readDelay(step.delay) === null ? { delay: "bad_delay" as const } : {}),
    ...(step.targets.length ? {} : { targets: "no_targets" as const }),
  }));
}

export function hasErrors(errors: readonly StepErrors[]): boolean {
  return errors.some((each) => each.delay || each.targets);
}

/** Of a draft without errors. */
export function stepsOf(draft: readonly StepDraft[]): ChainStep[] {
  return draft.map((step) => ({ after: readDelay(step.delay) ?? 0, targets: [...step.targets] })).sort((a, b) => a.after - b.after);
}

/** The steps change places, and the delays stay where they are: a step is what happens then. */
export function moved(draft: readonly StepDraft[], at: number, by: -1 | 1): StepDraft[] {
  const [one, other] = [draft[at], draft[at + by]];
  if (!one || !other) return [...draft];
  return draft.map((step, here) => (here === at ? { ...other, delay: one.delay } : here === at + by ? { ...one, delay: other.delay } : step));
}

/** With an empty step after the last one. */
export function extended(draft: readonly StepDraft[]): StepDraft[] {
  const last = Math.max(-1, ...draft.map((step) => readDelay(step.delay) ?? -1));
  const delay = FIRST_DELAYS.find((each) => each > last) ?? last + 86_400;
  return [...draft, { key: Math.max(-1, ...draft.map((step) => step.key)) + 1, delay: writeDelay(delay), targets: [] }];
}

/** The same for the same target, and fit for the value of a choice. */
export function keyOf(target: Target): string {
  return JSON.stringify([target.to, "channel" in target ? target.channel : "person" in target ? (target.person ?? "") : ""]);
}
