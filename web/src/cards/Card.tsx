/** An ask as the page shows it: one anatomy for all kinds, and one line when it is over. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Answer, Ask } from "../feed/model";
import { Unfolds } from "../parts/Folded";
import { Icon } from "../parts/Icons";
import { Quoted } from "../parts/Quoted";
import { countdown, moment, now, span } from "../store/clock";
import { may, me, sessions } from "../store/desk";
import { chosen, current, pathOf } from "../store/place";
import { answer, dismiss, sending, takeBack } from "../store/sending";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { FormCard } from "./FormCard";
import { askedAgain, useArmed } from "./keys";
import { PermissionCard } from "./PermissionCard";
import { PlanCard } from "./PlanCard";
import { QuestionCard } from "./QuestionCard";
import { nearby, outcome, sentence } from "./sentence";
import { stageOf, type Stage } from "./stage";

export interface Acting {
  /** Sends an answer, unless the card has only just appeared. */
  act: (given: Answer) => void;
  /** Nothing can be answered: it is on its way, over, or not for this role. */
  disabled: boolean;
  directory: string | null;
}

export function Card({ ask, where }: { ask: Ask; where: "inbox" | "chat" }) {
  const stage = stageOf(ask, sending.value.get(ask.id));
  const unfolded = useSignal(false);
  const isOpen = stage.is === "open" || stage.is === "sending" || stage.is === "kept" || stage.is === "sent";
  if (isOpen || unfolded.value) return <Whole ask={ask} stage={stage} where={where} fold={isOpen ? null : () => (unfolded.value = false)} />;
  return <Line ask={ask} stage={stage} unfold={() => (unfolded.value = true)} />;
}

function Whole({ ask, stage, where, fold }: { ask: Ask; stage: Stage; where: "inbox" | "chat"; fold: (() => void) | null }) {
  const armed = useArmed();
  const id = useId();
  const session = ask.session === null ? undefined : sessions.value.get(ask.session);
  const directory = session?.directory ?? null;
  const acts = stage.is === "open" || stage.is === "expired";
  const acting: Acting = {
    act: (given) => {
      if (armed() && acts && may("approver")) void answer(ask, given);
    },
    disabled: !acts || !may("approver"),
    directory,
  };
  const isCurrent = current.value === ask.id;
  return (
    <section
      id={`card-${ask.id}`}
      class={`card ${ask.kind} stage-${stage.is}${isCurrent ? " current" : ""}`}
      aria-labelledby={id}
      aria-current={isCurrent || undefined}
      onFocusIn={() => (chosen.value = ask.id)}
    >
      <Who ask={ask} where={where} fold={fold} />
      <h2 id={id} class="asked">
        <Asked ask={ask} directory={directory} />
      </h2>
      {stage.is === "expired" && <p class="note late">{t.card.lateSays}</p>}
      <Controls ask={ask} acting={acting} />
      <Progress ask={ask} stage={stage} />
      <Unfolds title={t.card.why} tag="why">
        {() => <Why ask={ask} />}
      </Unfolds>
    </section>
  );
}

function Asked({ ask, directory }: { ask: Ask; directory: string | null }) {
  if (ask.kind === "question" && ask.body.questions.length > 1) return <span class="unseen">{t.card.kinds.question}</span>;
  return <Quoted text={sentence(ask, directory)} />;
}

function Controls({ ask, acting }: { ask: Ask; acting: Acting }) {
  switch (ask.kind) {
    case "question":
      return <QuestionCard ask={ask} {...acting} />;
    case "permission":
      return <PermissionCard ask={ask} {...acting} />;
    case "plan":
      return <PlanCard ask={ask} {...acting} />;
    case "form":
      return <FormCard ask={ask} {...acting} />;
  }
}

function Who({ ask, where, fold }: { ask: Ask; where: "inbox" | "chat"; fold: (() => void) | null }) {
  const session = ask.session === null ? undefined : sessions.value.get(ask.session);
  const waited = span(now.value - Date.parse(ask.opened_at));
  const left = ask.expires_at === null ? null : Date.parse(ask.expires_at) - now.value;
  return (
    <header class="who">
      <span class="kind">
        <Icon name={ask.kind} />
        {t.card.kinds[ask.kind]}
      </span>
      {where === "inbox" && session && (
        <a data-inside href={pathOf({ view: "session", id: session.id })} title={t.card.goTo}>
          {reveal(session.title)}
        </a>
      )}
      {where === "inbox" && session && <span class="quiet-text">{basename(session.directory)}</span>}
      {!session && <span>{ask.agent ? t.card.agent(reveal(ask.agent)) : t.card.outside}</span>}
      {session && ask.agent && <span>{t.card.agent(reveal(ask.agent))}</span>}
      <span class="spring" />
      {ask.state === "open" && <span class="quiet-text">{t.card.waited(waited)}</span>}
      {ask.state === "open" && left !== null && (
        <span class={left < 60_000 ? "left soon" : "left"}>
          <Icon name="clock" />
          {t.card.left(countdown(left))}
        </span>
      )}
      {fold && (
        <button type="button" class="quiet" aria-label={t.close} onClick={fold}>
          <Icon name="close" />
        </button>
      )}
    </header>
  );
}

function Progress({ ask, stage }: { ask: Ask; stage: Stage }) {
  const session = ask.session === null ? undefined : sessions.value.get(ask.session);
  if (askedAgain.value === ask.id) return <p class="note" role="status">{t.card.again}</p>;
  switch (stage.is) {
    case "sending":
      return <p class="note" role="status">{t.card.sending}</p>;
    case "sent":
      return <p class="note" role="status">{t.card.sent}</p>;
    case "kept":
      return (
        <p class="note unsent" role="status">
          {t.card.kept}{" "}
          <button type="button" onClick={() => takeBack(ask.id)}>
            {t.card.takeBack}
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
            <button type="button" class="quiet" aria-label={t.close} onClick={() => dismiss(ask.id)}>
              <Icon name="close" />
            </button>
          </p>
        );
      return stage.is === "open" && !may("approver") ? <p class="note">{t.card.viewer}</p> : null;
    default:
      return <p class="note"><Quoted text={lineOf(ask, stage, session?.directory ?? null)} /></p>;
  }
}

function Why({ ask }: { ask: Ask }) {
  return (
    <>
      <p><Quoted text={reveal(ask.why)} /></p>
      {ask.kind === "permission" && ask.body.reason && <p>{t.permission.says}: {reveal(ask.body.reason)}</p>}
      {ask.kind === "permission" && (
        <p>
          <a data-inside href="/admin/rules">{t.card.makeRule}</a>
        </p>
      )}
    </>
  );
}

/** What became of it, in one line that unfolds again. */
function Line({ ask, stage, unfold }: { ask: Ask; stage: Stage; unfold: () => void }) {
  const session = ask.session === null ? undefined : sessions.value.get(ask.session);
  const denied = "settlement" in stage && "allow" in stage.settlement.answer && !stage.settlement.answer.allow;
  return (
    <section id={`card-${ask.id}`} class={`line-card ${ask.kind} stage-${stage.is}${denied ? " denied" : ""}`}>
      <button type="button" class="folded" aria-expanded={false} title={t.card.unfold} onClick={unfold}>
        <Icon name={ask.kind} />
        <span class="line-text">
          <Quoted text={lineOf(ask, stage, session?.directory ?? null)} />
        </span>
        {stage.is === "answered" && !stage.delivered && <span class="waiting">{t.card.underway}</span>}
        {stage.is === "expired" && <span class="waiting">{t.card.lateButton}</span>}
        <Icon name="down" />
      </button>
      {"trouble" in stage && stage.trouble && <p class="note trouble" role="alert">{reveal(stage.trouble)}</p>}
    </section>
  );
}

function lineOf(ask: Ask, stage: Stage, directory: string | null): string {
  switch (stage.is) {
    case "answered": {
      const { answer: given, by, from, at } = stage.settlement;
      const mine = by.kind === "person" && from === "web" && by.name === me.value?.name;
      const tail = [from, moment(at), ...(stage.delivered ? [t.card.delivered] : [])];
      return [outcome(ask, given, by, mine, directory), ...tail].join(" · ");
    }
    case "late": {
      const { answer: given, by, from, at } = stage.settlement;
      const mine = by.kind === "person" && from === "web" && by.name === me.value?.name;
      return [outcome(ask, given, by, mine, directory), from, moment(at), t.card.late].join(" · ");
    }
    case "expired":
      return `${sentence(ask, directory)} · ${t.card.expired(moment(stage.at))}`;
    case "withdrawn":
      return `${sentence(ask, directory)} · ${t.card.withdrawn(reveal(stage.reason), moment(stage.at))}`;
    default:
      return sentence(ask, directory);
  }
}

export function basename(path: string): string {
  return reveal(path.split("/").filter(Boolean).at(-1) ?? path);
}

export { nearby };
