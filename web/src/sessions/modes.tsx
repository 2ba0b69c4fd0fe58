/** The permission modes and models that can be chosen. */
import { texts as t } from "../texts";

export const MODES = ["default", "acceptEdits", "plan", "bypassPermissions"];
export const MODELS = ["opus", "sonnet", "haiku"];

/** As options of a select; `and` is one that is set and may be another. */
export function ModeChoices({ and }: { and?: string | null }) {
  const all = and && !MODES.includes(and) ? [...MODES, and] : MODES;
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
