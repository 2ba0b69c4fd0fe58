/** Trust in a directory: everything that it brings, whole and by its kind; then without, exactly as it is, or never. */
import type { AskOf } from "../feed/model";
import type { Brought } from "../generated/api";
import { Machine } from "../parts/Folded";
import { may } from "../store/desk";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { ChoiceButton, Bar, forAll } from "./Bar";
import type { Acting } from "./Card";
import { useKeys } from "./keys";

export function TrustCard({ ask, act, hand, disabled, all }: Acting & { ask: AskOf<"trust"> }) {
  const { body } = ask;
  const without = () => act({ trust: "without" }, "d");
  const trustable = body.unreadable.length === 0 && may("admin");
  // Trusting has no key: it is pressed on purpose.
  useKeys(ask, { without: !disabled && without });
  return (
    <>
      <p class="note">{reveal(ask.why)}</p>
      {body.unreadable.map((each) => (
        <p key={each} class="note trouble">
          {t("page.card.trust.unreadable", { reason: reveal(each) })}
        </p>
      ))}
      <div class="brought">
        {body.brought.map((each, at) => (
          <Piece key={at} piece={each} />
        ))}
      </div>
      <p class="quiet-text">{t("page.card.trust.ends")}</p>
      <Bar hand={hand}>
        <ChoiceButton hand={hand} name="d" label={forAll(t("page.card.trust.without"), all)} tag="primary" disabled={disabled} does={without} />
        <ChoiceButton
          hand={hand}
          name="exactly"
          label={forAll(t("page.card.trust.exactly"), all)}
          tag="danger"
          disabled={disabled || !trustable}
          does={() => act({ trust: "exactly" }, "exactly")}
          shown={null}
        />
        <ChoiceButton hand={hand} name="never" label={forAll(t("page.card.trust.never"), all)} disabled={disabled} does={() => act({ trust: "never" }, "never")} shown={null} />
      </Bar>
      {!may("admin") && <p class="quiet-text">{t("page.card.trust.admin")}</p>}
    </>
  );
}

function Piece({ piece }: { piece: Brought }) {
  const named = `${t(`page.card.trust.kind.${piece.kind}`)} ${reveal(piece.name)}`;
  return (
    <section class="piece">
      <h3>
        {named} <span class="quiet-text">{t("page.card.trust.in", { path: reveal(piece.path) })}</span>
      </h3>
      <Machine evidence text={piece.text} label={named} />
    </section>
  );
}
