/** Trust in a directory: everything that it brings, whole and by its kind; then without, exactly as it is, or never. */
import type { AskOf } from "../feed/model";
import type { Brought } from "../generated/api";
import { Machine } from "../parts/Folded";
import { may } from "../store/desk";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import type { Acting } from "./Card";
import { useKeys } from "./keys";

export function TrustCard({ ask, act, disabled, all }: Acting & { ask: AskOf<"trust"> }) {
  const { body } = ask;
  const without = () => act({ trust: "without" });
  // Trusting has no key: it is pressed on purpose.
  useKeys(ask.id, (key) => {
    if (disabled || key !== "d" && key !== "5") return false;
    without();
    return true;
  });
  return (
    <>
      <p class="note">{reveal(ask.why)}</p>
      {body.unreadable.map((each) => (
        <p key={each} class="note trouble">
          {t.trust.notShown(reveal(each))}
        </p>
      ))}
      <div class="brought">
        {body.brought.map((each, at) => (
          <Piece key={at} piece={each} />
        ))}
      </div>
      <p class="quiet-text">{t.trust.ends}</p>
      <div class="controls">
        <button type="button" class="primary" disabled={disabled} onClick={without}>
          {t.trust.without + t.inbox.all(all)} <kbd aria-hidden="true">d</kbd>
        </button>
        <button type="button" class="danger" disabled={disabled || body.unreadable.length > 0 || !may("admin")} onClick={() => act({ trust: "exactly" })}>
          {t.trust.exactly + t.inbox.all(all)}
        </button>
        <button type="button" disabled={disabled} onClick={() => act({ trust: "never" })}>
          {t.trust.never + t.inbox.all(all)}
        </button>
      </div>
      {!may("admin") && <p class="quiet-text">{t.trust.admin}</p>}
    </>
  );
}

function Piece({ piece }: { piece: Brought }) {
  const named = `${t.trust.kinds[piece.kind]} ${reveal(piece.name)}`;
  return (
    <section class="piece">
      <h3>
        {named} <span class="quiet-text">{t.trust.in(reveal(piece.path))}</span>
      </h3>
      <Machine text={piece.text} label={named} />
    </section>
  );
}
