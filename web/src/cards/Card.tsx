/** An ask as the page shows it: one anatomy for all kinds, and one line once it is settled. */
import { useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Answer, Ask } from "../feed/model";
import { enter } from "../hands/all";
import { Hand } from "../hands/Hand";
import { weightOf } from "../hands/weight";
import { Unfolds } from "../parts/Folded";
import { AwayNote } from "../parts/MachineName";
import { memo } from "../parts/memo";
import { Quoted } from "../parts/Quoted";
import { may, sessionOf } from "../store/desk";
import { hold, isHeld, release } from "../store/held";
import { chosen, current } from "../store/place";
import { sendAnswer, sending } from "../store/sending";
import { answerAll, look, mates } from "../store/together";
import { t } from "../texts";
import type { Acting } from "./acting";
import { nameOf, refusalOf } from "./Bar";
import { FormCard } from "./FormCard";
import { CardHead, type Where } from "./Head";
import { OutcomeLine } from "./Line";
import { LinkCard } from "./LinkCard";
import { PermissionCard } from "./PermissionCard";
import { PlanCard } from "./PlanCard";
import { Progress } from "./Progress";
import { QuestionCard } from "./QuestionCard";
import { stageOf, type Stage } from "./stage";
import { TrustCard } from "./TrustCard";
import { Why } from "./Why";

export const Card = memo(({ ask, where }: { ask: Ask; where: Where }) => {
  const sent = useComputed(() => sending.value.get(ask.id)).value;
  const stage = stageOf(ask, sent);
  const unfolded = useSignal(stage.is === "expired" && isHeld(ask.id));
  const isOpen = stage.is === "open" || stage.is === "sending" || stage.is === "queued" || stage.is === "sent";
  const wasOpen = useRef(isOpen);
  // A person who is writing an answer when the time runs out can finish it, and sees that it is late.
  if (wasOpen.current && stage.is === "expired" && document.getElementById(`card-${ask.id}`)?.contains(document.activeElement)) unfolded.value = true;
  wasOpen.current = isOpen;
  if (isOpen || unfolded.value) return <Whole ask={ask} stage={stage} where={where} fold={isOpen ? null : () => (unfolded.value = false)} />;
  return <OutcomeLine ask={ask} stage={stage} named={where === "inbox"} unfold={() => (unfolded.value = true)} />;
});

function Whole({ ask, stage, where, fold }: { ask: Ask; stage: Stage; where: Where; fold: (() => void) | null }) {
  const id = useId();
  const [hand, frame] = useHand(ask, stage.is === "open");
  const acting = useActing(ask, stage, hand);
  const isCurrent = current.value === ask.id;
  return (
    <section
      id={`card-${ask.id}`}
      class={`card ${ask.kind} stage-${stage.is}${isCurrent ? " current" : ""}`}
      aria-labelledby={id}
      aria-current={isCurrent || undefined}
      ref={frame}
      onFocusIn={() => {
        chosen.value = ask.id;
        // Only while it is open: one that was already late stays in its own list.
        if (stage.is === "open") hold(ask.id);
      }}
      onFocusOut={(event) => release(ask.id, event)}
    >
      <CardHead ask={ask} where={where} fold={fold} />
      <Headline ask={ask} id={id} />
      {stage.is === "expired" && <p class="note late">{t("page.card.late_hint")}</p>}
      <CardBody ask={ask} acting={acting} />
      <p class="unseen" role="status">
        {hand.refusal.value && refusalOf(hand.refusal.value)}
      </p>
      {isWaiting(stage) && <AwayNote of={ask} about="card" />}
      <Progress ask={ask} stage={stage} />
      <Unfolds title={t("page.card.why")} tag="why">
        {() => <Why ask={ask} />}
      </Unfolds>
    </section>
  );
}

/** Whether an answer can be given, or is on its way. */
function isWaiting(stage: Stage): boolean {
  return stage.is === "open" || stage.is === "expired" || stage.is === "sending" || stage.is === "sent";
}

/** The ways to answer it, while it can be answered from here. */
function useActing(ask: Ask, stage: Stage, hand: Hand): Acting {
  const acts = (stage.is === "open" || stage.is === "expired") && may("approver");
  const others = mates(ask);
  const send = (answer: Answer) => {
    if (!acts) return;
    if (others.length) void answerAll(others, answer);
    else void sendAnswer(ask, answer);
  };
  // An act that is held for a moment is sent as things are then.
  const latest = useRef(send);
  latest.current = send;
  const act: Acting["act"] = (answer, control) => acts && hand.act(control, weightOf(answer), () => latest.current(answer));
  return {
    act,
    choose: (choice, control) => choice?.answer && act(choice.answer as Answer, control ?? nameOf(choice)),
    hand,
    disabled: !acts,
    directory: sessionOf(ask.session)?.directory ?? null,
    all: others.length,
  };
}

/** The card in front of the person. It counts as seen when all of it was on the screen for as long as an act needs. */
function useHand(ask: Ask, open: boolean): [Hand, RefObject<HTMLElement | null>] {
  const frame = useRef<HTMLElement>(null);
  const hand = useMemo(() => new Hand(ask.id), [ask.id]);
  const ready = useRef<() => void>(() => undefined);
  ready.current = () => open && look(ask);
  useLayoutEffect(() => {
    if (!frame.current) return undefined;
    hand.appear(frame.current, () => ready.current());
    return enter(hand);
  }, [hand]);
  useLayoutEffect(() => hand.change(), [ask.digest, open]);
  return [hand, frame];
}

/** What is asked. Several questions each say their own. */
function Headline({ ask, id }: { ask: Ask; id: string }) {
  const several = ask.kind === "question" && ask.body.questions.length > 1;
  return (
    <h2 id={id} class={several ? "unseen" : "asked"} data-evidence={!several || undefined}>
      {several ? t("card.kind.question") : <Quoted text={ask.card.headline} />}
    </h2>
  );
}

function CardBody({ ask, acting }: { ask: Ask; acting: Acting }) {
  switch (ask.kind) {
    case "question":
      return <QuestionCard ask={ask} {...acting} />;
    case "permission":
      return <PermissionCard ask={ask} {...acting} />;
    case "plan":
      return <PlanCard ask={ask} {...acting} />;
    case "form":
      return ask.card.link ? <LinkCard ask={ask} link={ask.card.link} {...acting} /> : <FormCard ask={ask} {...acting} />;
    case "trust":
      return <TrustCard ask={ask} {...acting} />;
  }
}
