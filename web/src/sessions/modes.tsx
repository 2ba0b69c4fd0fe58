/** The permission modes and models that can be chosen. */
import { reveal } from "../text/reveal";
import { textOr } from "../texts";

export const NEVER_ASKS = "bypassPermissions";
export const MODES = ["default", "acceptEdits", "plan", NEVER_ASKS];
export const MODELS = ["opus", "sonnet", "haiku"];

/** Claude may know modes that we don't: they are shown by their own name. */
export function modeName(mode: string): string {
  return textOr(`page.mode.name.${mode}`, reveal(mode));
}

/** The modes to choose from, with the current one, which may be another. A running session can't be switched to never ask: Claude refuses that. */
export function modesFor(current: string | null | undefined, runs: boolean): string[] {
  const offered = runs ? MODES.filter((mode) => mode !== NEVER_ASKS) : MODES;
  return current && !offered.includes(current) ? [...offered, current] : offered;
}

/** As options of a select. `and` is the current mode. */
export function ModeChoices({ and, runs = false }: { and?: string | null; runs?: boolean }) {
  return (
    <>
      {modesFor(and, runs).map((mode) => (
        <option key={mode} value={mode}>
          {modeName(mode)}
        </option>
      ))}
    </>
  );
}
