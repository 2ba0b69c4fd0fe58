/** A question: one prompt at a time, options by number, an answer of one's own, sent when each is answered. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { AskOf, Prompt } from "../feed/model";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { ChoiceButton, forAll } from "./Bar";
import type { Acting } from "./Card";
import { choicesOf, isAnswered, NOTHING, type PromptAnswer } from "./choices";
import { leaveText, useKeys } from "./keys";
import { OptionList } from "./Options";

interface QuestionDraft {
  at: number;
  answers: PromptAnswer[];
}

const BLINK = 160;

export function QuestionCard({ ask, act, hand, disabled, all }: Acting & { ask: AskOf<"question"> }) {
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
  const pick = (label: string, moves = true) => {
    if (prompt.multi_select) {
      const has = answer.labels.includes(label);
      change({ ...answer, labels: has ? answer.labels.filter((each) => each !== label) : [...answer.labels, label] });
    } else change({ ...answer, labels: [label], other: false }, moves);
  };
  const openOther = () => {
    change(prompt.multi_select ? { ...answer, other: !answer.other || answer.text === "" } : { ...answer, labels: [], other: true });
    requestAnimationFrame(() => text.current?.focus());
  };
  const send = () => {
    if (missing === 0) act(choicesOf(prompts, latest.current.answers), "Enter");
    else go(prompts.findIndex((each, index) => !isAnswered(each, latest.current.answers[index])));
  };

  const shown = useRef(at);
  useLayoutEffect(() => {
    if (shown.current !== at) hand.turn();
    shown.current = at;
  }, [at]);
  const numbered = prompt.options.slice(0, 9).map((option, index) => [String(index + 1), () => pick(option.label)]);
  useKeys(
    ask,
    { "free text": !disabled && openOther },
    disabled ? {} : { ...Object.fromEntries(numbered), Enter: send, ArrowRight: at < prompts.length - 1 && (() => go(at + 1)), ArrowLeft: at > 0 && (() => go(at - 1)) },
  );

  return (
    <form
      class="question"
      data-own
      data-fills
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        else leaveText(event);
      }}
    >
      {prompts.length > 1 && <Steps prompts={prompts} answers={draft.answers} at={at} go={go} />}
      {prompts.length === 1 && prompt.header && <span class="chip">{reveal(prompt.header)}</span>}
      <OptionList
        key={at}
        name={`${ask.id}-${at}`}
        prompt={prompt}
        answer={answer}
        disabled={disabled}
        pick={pick}
        openOther={openOther}
        write={(next) => change({ ...answer, text: next, other: true })}
        text={text}
        quiet={prompts.length === 1}
      />
      <div class="controls">
        <ChoiceButton
          hand={hand}
          name="Enter"
          label={forAll(prompts.length > 1 ? t("page.card.question.send_all") : t("page.card.question.send"), all)}
          tag="primary"
          disabled={disabled || missing > 0}
        />
        {at < prompts.length - 1 && (
          <button type="button" disabled={disabled} onClick={() => go(at + 1)}>
            {t("page.card.question.next")}
          </button>
        )}
        {missing > 0 && prompts.length > 1 && <span class="quiet-text">{t("page.card.question.missing", { count: missing })}</span>}
      </div>
    </form>
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
