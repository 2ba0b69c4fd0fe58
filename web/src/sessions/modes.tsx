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

/** As options of a select. `and` is the current mode, which may be another. A running session can't be switched to never ask: Claude refuses that. */
export function ModeChoices({ and, runs = false }: { and?: string | null; runs?: boolean }) {
  const offered = runs ? MODES.filter((mode) => mode !== NEVER_ASKS) : MODES;
  const all = and && !offered.includes(and) ? [...offered, and] : offered;
  return (
    <>
      {all.map((mode) => (
        <option key={mode} value={mode}>
          {modeName(mode)}
        </option>
      ))}
    </>
  );
}
