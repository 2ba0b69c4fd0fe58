/** Trust in a directory: everything it brings, complete and by kind; then without, exactly as it is, or never. */
import type { AskOf } from "../feed/model";
import { Quoted } from "../parts/Quoted";
import { may } from "../store/desk";
import { t } from "../texts";
import { choiceOf, type Acting } from "./acting";
import { Bar, Choice } from "./Bar";
import { Exhibit } from "./Evidence";
import { useKeys } from "./keys";

export function TrustCard({ ask, choose, hand, disabled, all }: Acting & { ask: AskOf<"trust"> }) {
  const { why, evidence } = ask.card;
  const [exactly, without, never] = ["exactly", "without", "never"].map((act) => choiceOf(ask, act));
  // Trusting has no key: it must be clicked on purpose.
  useKeys(ask, { without: !disabled && (() => choose(without)) });
  return (
    <>
      {why && (
        <p class="note">
          <Quoted text={why} />
        </p>
      )}
      <div class="brought">
        {evidence.map((each, at) => (
          <Exhibit key={at} evidence={each} />
        ))}
      </div>
      <Bar hand={hand} tag="explained">
        <Choice explained hand={hand} choice={without} all={all} tag="primary" disabled={disabled} does={() => choose(without)} />
        <Choice explained hand={hand} choice={exactly} all={all} tag="danger" disabled={disabled || !may("admin")} does={() => choose(exactly)} />
        <Choice explained hand={hand} choice={never} all={all} disabled={disabled} does={() => choose(never)} />
      </Bar>
      {!may("admin") && <p class="quiet-text">{t("page.card.trust_needs_admin")}</p>}
    </>
  );
}
