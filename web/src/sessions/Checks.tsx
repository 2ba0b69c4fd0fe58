/** Before the first session: whether Claude Code is there, new enough and signed in, and the command to run if it isn't. */
import type { Setup } from "../generated/api";
import { Copy } from "../parts/Copy";
import { Icon } from "../parts/Icons";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";

export interface Checking {
  found: Setup | null;
  trouble: string | null;
  again: () => void;
}

export function Checks({ checking: { found, trouble, again } }: { checking: Checking }) {
  if (!found && !trouble)
    return (
      <p class="quiet-text" role="status">
        {t("start.check.running")}
      </p>
    );
  return (
    <section class="checks" aria-live="polite">
      {trouble && <p class="trouble">{t("start.check.failed", { error: trouble })}</p>}
      <ul>
        {found?.checks.map((check) => (
          <li key={check.name} class={check.ok ? "well" : "needs-text"}>
            <Icon name={check.ok ? "check" : "warning"} />
            <div>
              {reveal(check.sentence)}
              {!check.ok && <Remedy advice={check.advice} command={check.command} />}
            </div>
          </li>
        ))}
      </ul>
      {(trouble || (found && !found.ready)) && (
        <button type="button" onClick={again}>
          <Icon name="refresh" /> {t("start.check.again")}
        </button>
      )}
    </section>
  );
}

function Remedy({ advice, command }: { advice: string; command: string }) {
  return (
    <p class="remedy">
      {reveal(advice)}
      {command && (
        <span class="command-line">
          <code>{revealExactly(command)}</code> <Copy text={command} label={t("start.check.copy")} />
        </span>
      )}
    </p>
  );
}
