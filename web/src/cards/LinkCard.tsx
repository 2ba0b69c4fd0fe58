/** A link of an MCP server: its host set apart, opened only by the person, then done, declined or dismissed. */
import type { AskOf, CardLink } from "../feed/model";
import { choiceOf, type Acting } from "./acting";
import { Bar, Choice } from "./Bar";
import { Exhibit } from "./Evidence";
import { useKeys } from "./keys";

export function LinkCard({ ask, link, choose, hand, disabled, all }: Acting & { ask: AskOf<"form">; link: CardLink }) {
  const [done, decline, cancel] = ["done", "decline", "cancel"].map((act) => choiceOf(ask, act));
  useKeys(ask, {
    done: !disabled && (() => choose(done)),
    decline: !disabled && (() => choose(decline)),
    cancel: !disabled && (() => choose(cancel)),
  });
  // The piece is the address itself, for surfaces without links.
  const cautions = ask.card.evidence.filter((each) => each.kind !== "piece");
  return (
    <>
      <div class="evidence">
        <Address link={link} />
        {cautions.map((each, at) => (
          <Exhibit key={at} evidence={each} />
        ))}
      </div>
      <Bar hand={hand}>
        <Choice hand={hand} choice={done} all={all} tag="primary" disabled={disabled} does={() => choose(done)} />
        <Choice hand={hand} choice={decline} all={all} tag="danger" disabled={disabled} does={() => choose(decline)} />
        <Choice hand={hand} choice={cancel} all={all} tag="quiet" disabled={disabled} does={() => choose(cancel)} />
      </Bar>
    </>
  );
}

/** A real link only where the hub says that it can be opened. */
function Address({ link: { before, host, after, href } }: { link: CardLink }) {
  const parts = (
    <bdi dir="ltr">
      {before}
      <strong class="host">{host}</strong>
      {after}
    </bdi>
  );
  return (
    <p class="address" data-evidence>
      {href ? (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {parts}
        </a>
      ) : (
        parts
      )}
    </p>
  );
}
