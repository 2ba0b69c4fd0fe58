/** The mark of a request to look at twice, where only its headline is shown. */
import type { Ask } from "../feed/model";
import { Icon } from "./Icons";
import { Quoted } from "./Quoted";

export function DangerMark({ ask }: { ask: Ask }) {
  const dangers = ask.card.dangers ?? [];
  if (!dangers.length) return null;
  return (
    <span class="danger-mark" title={dangers.join("\n").replaceAll("`", "")}>
      <Icon name="warning" />
      <span class="unseen">{ask.card.risk.reason}: </span>
    </span>
  );
}

/** What to look at twice, as sentences. */
export function Dangers({ sentences }: { sentences: readonly string[] }) {
  return (
    <>
      {sentences.map((each) => (
        <p key={each} class="danger-sign" data-evidence>
          <Icon name="warning" />
          <span>
            <Quoted text={each} />
          </span>
        </p>
      ))}
    </>
  );
}
