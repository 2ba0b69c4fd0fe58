/** An ask as the page shows it: one anatomy for all kinds, and one line when it is over. */
import { useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Answer, Ask } from "../feed/model";
import { enter } from "../hands/all";
import { Hand } from "../hands/Hand";
import { weightOf } from "../hands/weight";
import { Unfolds } from "../parts/Folded";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { now } from "../store/clock";
import { may, sessionOf } from "../store/desk";
import { chosen, current, pathOf } from "../store/place";
import { discard, dismiss, sendAnswer, sending } from "../store/sending";
import { answerAll, look, mates } from "../store/together";
import { reveal } from "../text/reveal";
import { countdown, span } from "../text/times";
import { t } from "../texts";
import { refusalOf } from "./Bar";
import { FormCard } from "./FormCard";
import { Line, lineOf } from "./Line";
import { PermissionCard } from "./PermissionCard";
import { PlanCard } from "./PlanCard";
import { QuestionCard } from "./QuestionCard";
import { basename, sentence } from "./sentence";
import { stageOf, type Stage } from "./stage";
import { TrustCard } from "./TrustCard";
import { Why } from "./Why";

export interface Acting {
  /** Sends an answer, if the hand meant it. `control` names what was pressed: why nothing was sent is said there. */
  act: (answer: Answer, control: string) => void;
  /** The card before the person's hand: what of it was seen, and whether it stands still. */
  hand: Hand;
  /** Nothing can be answered: it is on its way, over, or not for this role. */
  disabled: boolean;
  directory: string | null;
  /** How many identical asks the answer is given to; 0 if to this one alone. */
  all: number;
}

type Where = "inbox" | "chat";

export function Card({ ask, where }: { ask: Ask; where: Where }) {
  const sent = useComputed(() => sending.value.get(ask.id)).value;
  const stage = stageOf(ask, sent);
  const unfolded = useSignal(false);
  const isOpen = stage.is === "open" || stage.is === "sending" || stage.is === "queued" || stage.is === "sent";
  const wasOpen = useRef(isOpen);
  // Whoever writes an answer while the time runs out goes on writing, and is told that it is late.
  if (wasOpen.current && stage.is === "expired" && document.getElementById(`card-${ask.id}`)?.contains(document.activeElement)) unfolded.value = true;
  wasOpen.current = isOpen;
  if (isOpen || unfolded.value) return <Whole ask={ask} stage={stage} where={where} fold={isOpen ? null : () => (unfolded.value = false)} />;
  return <Line ask={ask} stage={stage} named={where === "inbox"} unfold={() => (unfolded.value = true)} />;
}

function Whole({ ask, stage, where, fold }: { ask: Ask; stage: Stage; where: Where; fold: (() => void) | null }) {
  const id = useId();
  const directory = sessionOf(ask.session)?.directory ?? null;
  const acts = (stage.is === "open" || stage.is === "expired") && may("approver");
  const others = mates(ask);
  const [hand, frame] = useHand(ask, stage.is === "open");
  const send = (answer: Answer) => {
    if (!acts) return;
    if (others.length) void answerAll(others, answer);
    else void sendAnswer(ask, answer);
  };
  // What is held back for a moment is sent as things stand then.
  const latest = useRef(send);
  latest.current = send;
  const acting: Acting = {
    act: (answer, control) => acts && hand.act(control, weightOf(answer), () => latest.current(answer)),
    hand,
    disabled: !acts,
    directory,
    all: others.length,
  };
  const isCurrent = current.value === ask.id;
  return (
    <section
      id={`card-${ask.id}`}
      class={`card ${ask.kind} stage-${stage.is}${isCurrent ? " current" : ""}`}
      aria-labelledby={id}
      aria-current={isCurrent || undefined}
      ref={frame}
      onFocusIn={() => (chosen.value = ask.id)}
    >
      <Who ask={ask} where={where} fold={fold} />
      <Asked ask={ask} directory={directory} id={id} />
      {stage.is === "expired" && <p class="note late">{t("page.card.late_hint")}</p>}
      <CardBody ask={ask} acting={acting} />
      <p class="unseen" role="status">
        {hand.refusal.value && refusalOf(hand.refusal.value)}
      </p>
      <Progress ask={ask} stage={stage} />
      <Unfolds title={t("page.card.why")} tag="why">
        {() => <Why ask={ask} />}
      </Unfolds>
    </section>
  );
}

/** The card before the person's hand. It counts as looked at when all of it was on the screen, for as long as an act needs. */
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

/** The sentence. Several questions say their own, one after the other. */
function Asked({ ask, directory, id }: { ask: Ask; directory: string | null; id: string }) {
  const several = ask.kind === "question" && ask.body.questions.length > 1;
  return (
    <h2 id={id} class={several ? "unseen" : "asked"} data-evidence={!several || undefined}>
      {several ? t("page.card.kind.question") : <Quoted text={sentence(ask, directory)} />}
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
      return <FormCard ask={ask} {...acting} />;
    case "trust":
      return <TrustCard ask={ask} {...acting} />;
  }
}

function Who({ ask, where, fold }: { ask: Ask; where: Where; fold: (() => void) | null }) {
  const session = sessionOf(ask.session);
  return (
    <header class="who">
      <span class="kind">
        <Icon name={ask.kind} />
        {t(`page.card.kind.${ask.kind}`)}
      </span>
      <span class="whose">
        {where === "inbox" && session && (
          <a data-inside href={pathOf({ view: "session", id: session.id })} title={t("page.card.open_conversation")}>
            {reveal(session.title)}
          </a>
        )}
        {where === "inbox" && session && <span class="quiet-text">{basename(session.directory)}</span>}
        {!session && <span>{ask.agent ? t("page.card.agent", { name: reveal(ask.agent) }) : t("page.card.external_agent")}</span>}
        {session && ask.agent && <span>{t("page.card.agent", { name: reveal(ask.agent) })}</span>}
      </span>
      {ask.state === "open" && <Waited ask={ask} />}
      {fold && (
        <button type="button" class="quiet" aria-label={t("page.close")} onClick={fold}>
          <Icon name="close" />
        </button>
      )}
    </header>
  );
}

/** How long it has waited, and how long it still will. */
export function Waited({ ask, short = false }: { ask: Ask; short?: boolean }) {
  const waited = useComputed(() => span(now.value - Date.parse(ask.opened_at)));
  const left = useComputed(() => (ask.expires_at === null ? null : Date.parse(ask.expires_at) - now.value)).value;
  return (
    <span class="waited">
      <span class="quiet-text">{short ? waited : t("page.card.waiting", { duration: waited.value })}</span>
      {left !== null && (
        <span class={left < 60_000 ? "left soon" : "left"}>
          <Icon name="clock" />
          {t("page.card.left", { duration: countdown(left) })}
        </span>
      )}
    </span>
  );
}

function Progress({ ask, stage }: { ask: Ask; stage: Stage }) {
  const directory = sessionOf(ask.session)?.directory ?? null;
  switch (stage.is) {
    case "sending":
      return (
        <p class="note" role="status">
          {t("page.card.sending")}
        </p>
      );
    case "sent":
      return (
        <p class="note" role="status">
          {t("page.card.sent")}
        </p>
      );
    case "queued":
      return (
        <p class="note unsent" role="status">
          {stage.reason ? t("page.card.unsent_because", { reason: reveal(stage.reason) }) : t("page.card.unsent")}{" "}
          <button type="button" onClick={() => discard(ask.id)}>
            {t("page.card.discard")}
          </button>
        </p>
      );
    case "open":
    case "expired":
    case "withdrawn":
      if (stage.trouble)
        return (
          <p class="note trouble" role="alert">
            {reveal(stage.trouble)}{" "}
            <button type="button" class="quiet" aria-label={t("page.close")} onClick={() => dismiss(ask.id)}>
              <Icon name="close" />
            </button>
          </p>
        );
      return stage.is === "open" && !may("approver") ? <p class="note">{t("page.card.read_only")}</p> : null;
    default:
      return (
        <p class="note">
          <Quoted text={lineOf(ask, stage, directory)} />
        </p>
      );
  }
}
