/** Trust in a directory: everything that it brings, whole and by its kind; then without, exactly as it is, or never. */
import type { AskOf } from "../feed/model";
import type { Brought } from "../generated/api";
import { Machine } from "../parts/Folded";
import { may } from "../store/desk";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { Act, Bar } from "./Bar";
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
          {t.trust.notShown(reveal(each))}
        </p>
      ))}
      <div class="brought">
        {body.brought.map((each, at) => (
          <Piece key={at} piece={each} />
        ))}
      </div>
      <p class="quiet-text">{t.trust.ends}</p>
      <Bar hand={hand}>
        <Act hand={hand} name="d" label={t.trust.without + t.inbox.all(all)} tag="primary" disabled={disabled} does={without} />
        <Act hand={hand} name="exactly" label={t.trust.exactly + t.inbox.all(all)} tag="danger" disabled={disabled || !trustable} does={() => act({ trust: "exactly" }, "exactly")} shown={null} />
        <Act hand={hand} name="never" label={t.trust.never + t.inbox.all(all)} disabled={disabled} does={() => act({ trust: "never" }, "never")} shown={null} />
      </Bar>
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
      <Machine evidence text={piece.text} label={named} />
    </section>
  );
}
