/** Where there is no Git repository: the edits that the conversation has, by file. */
import { useMemo } from "preact/hooks";
import { OwnChange } from "../chat/Action";
import type { Session } from "../feed/model";
import type { Conversation } from "../store/timelines";
import { fileOf, nearby } from "../text/paths";
import { t } from "../texts";
import { editsIn } from "./edits";

export function FromCalls({ session, talk }: { session: Session; talk: Conversation }) {
  const blocks = talk.blocks.value;
  const edits = useMemo(() => editsIn(blocks.flat()), [blocks]);
  if (!edits.length) return <p class="empty">{t("review.no_calls")}</p>;
  return (
    <>
      <p class="note">{t("review.from_calls")}</p>
      {edits.map((entry) => (
        <section key={entry.key} class="review-file">
          <OwnChange entry={entry} input={entry.started.input} path={nearby(fileOf(entry.traits, entry.started.input), session.directory)} whole />
        </section>
      ))}
    </>
  );
}
