/** What was asked of a session on another machine and is not done yet, shown above the composer until it is. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Instruction, Session } from "../feed/model";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { now } from "../store/clock";
import { isMe, may } from "../store/desk";
import { ask, explainError } from "../store/http";
import { awayOf, instructions, machineOf, readInstructions } from "../store/machines";
import { actorName } from "../text/names";
import { reveal } from "../text/reveal";
import { t } from "../texts";

/** A machine that is online does it within this time; before that, nothing is shown. */
const SOON = 3000;

export function NotDone({ session }: { session: Session }) {
  const elsewhere = machineOf(session)?.here === false;
  useEffect(() => {
    // What waits is also in the feed; this is for what was asked before the page was opened.
    if (elsewhere) readInstructions(session.id).catch(() => undefined);
  }, [session.id, elsewhere]);
  const waiting = useComputed(() => {
    const away = awayOf(session) !== undefined;
    return [...instructions.value.values()].filter((each) => each.session === session.id && (away || now.value - Date.parse(each.at) > SOON));
  }).value;
  return (
    <>
      {waiting.map((each) => (
        <div key={each.id} class="not-taken">
          <Icon name="clock" />
          <span class="not-taken-text">
            {wishOf(each)}
            {each.text && <span class="quiet-text"> {reveal(each.text)}</span>}
          </span>
          <span class="quiet-text">
            <Quoted text={t("page.machine.waiting", { name: reveal(machineOf(each)?.name ?? each.machine) })} />
          </span>
          {may("admin") && <TakeBack path={`/api/instructions/${encodeURIComponent(each.id)}`} />}
        </div>
      ))}
    </>
  );
}

function wishOf(each: Instruction): string {
  const what = t(`page.machine.instruction.${each.kind}`);
  return isMe(each.by) ? what : `${what} · ${actorName(each.by)}`;
}

/** Takes back what was not done or received yet. */
export function TakeBack({ path }: { path: string }) {
  const busy = useSignal(false);
  const trouble = useSignal<string | null>(null);
  const take = () => {
    busy.value = true;
    trouble.value = null;
    ask("DELETE", path).catch((error) => {
      busy.value = false;
      trouble.value = explainError(error);
    });
  };
  return (
    <>
      {trouble.value && (
        <span class="trouble" role="alert">
          {reveal(trouble.value)}
        </span>
      )}
      <button type="button" class="quiet small" disabled={busy.value} onClick={take}>
        {t("page.machine.take_back")}
      </button>
    </>
  );
}
