/** The permission modes and models that can be chosen. */
import { texts as t } from "../texts";

export const NEVER_ASKS = "bypassPermissions";
export const MODES = ["default", "acceptEdits", "plan", NEVER_ASKS];
export const MODELS = ["opus", "sonnet", "haiku"];

/** As options of a select; `and` is one that is set and may be another. Who runs and asks cannot be told never to ask: Claude refuses it. */
export function ModeChoices({ and, runs = false }: { and?: string | null; runs?: boolean }) {
  const offered = runs ? MODES.filter((mode) => mode !== NEVER_ASKS) : MODES;
  const all = and && !offered.includes(and) ? [...offered, and] : offered;
  return (
    <>
      {all.map((mode) => (
        <option key={mode} value={mode}>
          {t.sessions.modes[mode] ?? mode}
        </option>
      ))}
    </>
  );
}
