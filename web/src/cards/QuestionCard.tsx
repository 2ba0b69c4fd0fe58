/** A question: one prompt at a time, options by number, free text, sent once each is answered. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { sendsMessage } from "../chat/sending";
import type { AskOf, Prompt } from "../feed/model";
import { SubmitForm } from "../parts/Form";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import type { Acting } from "./acting";
import { Control, forAll } from "./Bar";
import { choicesOf, isAnswered, NOTHING, type PromptAnswer } from "./choices";
import { leaveText, useKeys } from "./keys";
import { OptionList } from "./Options";

interface QuestionDraft {
  at: number;
  answers: PromptAnswer[];
}

interface QuestionProps extends Acting {
  ask: AskOf<"question">;
}

const BLINK = 160;

export function QuestionCard(props: QuestionProps) {
  const { ask, disabled } = props;
  const pages = usePages(props);
  const { prompts, at, prompt, go, send } = pages;
  useQuestionKeys(props, pages);
  const press = (event: KeyboardEvent) => {
    const writes = event.target instanceof HTMLTextAreaElement;
    if ((writes && sendsMessage(event)) || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      send();
    } else leaveText(event);
  };
  return (
    <SubmitForm class="question" data-own data-fills submit={send} onKeyDown={press}>
      {prompts.length > 1 && <Steps prompts={prompts} answers={pages.answers} at={at} go={go} />}
      {prompts.length === 1 && prompt.header && <span class="chip">{reveal(prompt.header)}</span>}
      <OptionList
        key={at}
        name={`${ask.id}-${at}`}
        prompt={prompt}
        answer={pages.answer}
        disabled={disabled}
        pick={pages.pick}
        openOther={pages.openOther}
        write={(next) => pages.change({ ...pages.answer, text: next, other: true })}
        text={pages.text}
        quiet={prompts.length === 1}
      />
      <QuestionBar {...props} pages={pages} />
    </SubmitForm>
  );
}

type Pages = ReturnType<typeof usePages>;

/** The current prompt, its answer so far, and what can be done with it. */
function usePages({ ask, act, hand }: QuestionProps) {
  const prompts = ask.body.questions;
  const [draft, setDraft] = useDraft<QuestionDraft>(ask.id, { at: 0, answers: prompts.map(() => NOTHING) });
  const text = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(draft);
  latest.current = draft;
  const at = Math.min(draft.at, prompts.length - 1);
  const prompt = prompts[at] as Prompt;
  const answer = draft.answers[at] ?? NOTHING;
  const missing = prompts.filter((each, index) => !isAnswered(each, draft.answers[index])).length;
  const go = (to: number) => setDraft({ ...latest.current, at: to });
  const change = (next: PromptAnswer, move = false) => {
    setDraft({ ...latest.current, answers: prompts.map((_, index) => (index === at ? next : (latest.current.answers[index] ?? NOTHING))) });
    if (move && at < prompts.length - 1) setTimeout(() => latest.current.at === at && go(at + 1), BLINK);
  };
  const pick = (label: string, moves = true) => change(picked(prompt, answer, label), !prompt.multi_select && moves);
  const openOther = () => {
    change(prompt.multi_select ? { ...answer, other: !answer.other || answer.text === "" } : { ...answer, labels: [], other: true });
    requestAnimationFrame(() => text.current?.focus());
  };
  const send = () => {
    if (missing === 0) act(choicesOf(prompts, latest.current.answers), "Enter");
    else go(prompts.findIndex((each, index) => !isAnswered(each, latest.current.answers[index])));
  };
  useTurns(at, () => hand.turn());
  return { prompts, answers: draft.answers, at, prompt, answer, missing, text, go, change, pick, openOther, send };
}

/** An option was chosen, or one of several was toggled. */
function picked(prompt: Prompt, answer: PromptAnswer, label: string): PromptAnswer {
  if (!prompt.multi_select) return { ...answer, labels: [label], other: false };
  const has = answer.labels.includes(label);
  return { ...answer, labels: has ? answer.labels.filter((each) => each !== label) : [...answer.labels, label] };
}

/** Calls back when another prompt is shown. */
function useTurns(at: number, turn: () => void): void {
  const shown = useRef(at);
  useLayoutEffect(() => {
    if (shown.current !== at) turn();
    shown.current = at;
  }, [at]);
}

function useQuestionKeys({ ask, disabled }: QuestionProps, { prompts, at, prompt, go, pick, openOther, send }: Pages): void {
  const numbered = prompt.options.slice(0, 9).map((option, index) => [String(index + 1), () => pick(option.label)]);
  const moves = { ArrowRight: at < prompts.length - 1 && (() => go(at + 1)), ArrowLeft: at > 0 && (() => go(at - 1)) };
  useKeys(ask, {}, disabled ? {} : { ...Object.fromEntries(numbered), ...(prompt.closed ? {} : { o: openOther, 0: openOther }), Enter: send, ...moves });
}

function QuestionBar({ hand, disabled, all, pages: { prompts, at, missing, go } }: QuestionProps & { pages: Pages }) {
  const several = prompts.length > 1;
  const label = several ? t("page.card.question.send_all") : t("page.card.question.send");
  return (
    <div class="controls">
      <Control hand={hand} name="Enter" label={forAll(label, all)} tag="primary" disabled={disabled || missing > 0} />
      {at < prompts.length - 1 && (
        <button type="button" disabled={disabled} onClick={() => go(at + 1)}>
          {t("page.card.question.next")}
        </button>
      )}
      {missing > 0 && several && <span class="quiet-text">{t("page.card.question.missing", { count: missing })}</span>}
    </div>
  );
}

function Steps({ prompts, answers, at, go }: { prompts: Prompt[]; answers: PromptAnswer[]; at: number; go: (to: number) => void }) {
  return (
    <ol class="steps">
      {prompts.map((prompt, index) => (
        <li key={index}>
          <button
            type="button"
            class={`chip${isAnswered(prompt, answers[index]) ? " done" : ""}`}
            aria-current={index === at ? "step" : undefined}
            aria-label={t("page.card.question.step", { number: index + 1, total: prompts.length, title: reveal(prompt.header || prompt.question) })}
            onClick={() => go(index)}
          >
            {reveal(prompt.header || String(index + 1))}
          </button>
        </li>
      ))}
    </ol>
  );
}
