/** A plan: its Markdown, and the ways to go on from it. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { AskOf } from "../feed/model";
import { Markdown } from "../parts/Markdown";
import { Rewrite } from "../parts/Rewrite";
import { useDraft } from "../store/drafts";
import { fromField, toField } from "../text/editing";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { ChoiceButton, Bar, forAll } from "./Bar";
import type { Acting } from "./Card";
import { Changes } from "./EditInput";
import { useKeys } from "./keys";

type Doing = "deciding" | "revising" | "editing";

export function PlanCard({ ask, act, hand, disabled, all }: Acting & { ask: AskOf<"plan"> }) {
  const asked = ask.body.plan;
  const doing = useSignal<Doing>("deciding");
  const { value: step } = doing;
  const [field, setField] = useDraft(`${ask.id}.plan`, toField(asked));
  const plan = useMemo(() => fromField(field, asked), [field, asked]);
  const [feedback, setFeedback] = useDraft(`${ask.id}.feedback`, "");
  const reason = useRef<HTMLTextAreaElement>(null);
  const edited = plan !== asked && plan.trim() !== "";
  const approve = (mode: "default" | "acceptEdits", control: string) => act({ approve: true, mode, ...(edited ? { plan } : {}) }, control);
  const outline = () => act({ outline: true }, "p");
  const sendBack = () => act({ approve: false, message: feedback.trim() }, "back");
  const go = (next: Doing) => () => (doing.value = next);

  // Before the next letter is heard: what is typed after `d` is the reason.
  useLayoutEffect(() => {
    if (step === "revising") reason.current?.focus();
    hand.step();
  }, [step]);
  useLayoutEffect(() => hand.change(), [plan]);
  const keys = !disabled && step === "deciding";
  useKeys(ask, {
    approve: keys && (() => approve("default", "a")),
    free: keys && (() => approve("acceptEdits", "y")),
    revise: keys && go("revising"),
    edit: keys && go("editing"),
    outline: keys && outline,
  });

  return (
    <>
      {edited && step !== "editing" && (
        <div class="edited">
          <Changes before={asked} after={plan} what={t("page.card.kind.plan")} />
          <button type="button" class="quiet small" onClick={() => setField(toField(asked))}>
            {t("page.card.undo_edit")}
          </button>
        </div>
      )}
      {step === "editing" ? (
        <form
          class="controls column"
          data-own
          onSubmit={(event) => {
            event.preventDefault();
            doing.value = "deciding";
          }}
        >
          <Rewrite label={t("page.card.edit_plan")} field={field} change={setField} before={asked} done={go("deciding")} leave={go("deciding")} most={24} />
          <div class="row-of-buttons">
            <button type="submit" class="primary">
              {t("page.card.review_changes")} <kbd aria-hidden="true">Ctrl Enter</kbd>
            </button>
            {edited && (
              <button type="button" class="quiet" onClick={() => setField(toField(asked))}>
                {t("page.card.undo_edit")}
              </button>
            )}
          </div>
        </form>
      ) : (
        <div class="plan-text" role="region" aria-label={t("page.card.kind.plan")} data-evidence>
          <Markdown text={reveal(edited ? plan : asked)} strict />
        </div>
      )}
      {step === "revising" && (
        <form
          class="controls column asks"
          data-own
          onSubmit={(event) => {
            event.preventDefault();
            sendBack();
          }}
        >
          <textarea
            ref={reason}
            rows={3}
            aria-label={t("page.card.feedback")}
            placeholder={t("page.card.feedback")}
            value={feedback}
            onInput={(event) => setFeedback(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                sendBack();
              } else if (event.key === "Escape") doing.value = "deciding";
            }}
          />
          <div class="row-of-buttons">
            <ChoiceButton hand={hand} name="back" label={forAll(t("page.card.send_back"), all)} tag="primary" disabled={disabled || !feedback.trim()} shown="Enter" />
            <ChoiceButton hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={go("deciding")} shown={null} />
          </div>
        </form>
      )}
      {step === "deciding" && (
        <Bar hand={hand}>
          <ChoiceButton hand={hand} name="a" label={forAll(t("page.card.plan.approve"), all)} tag="primary" disabled={disabled} does={() => approve("default", "a")} />
          <ChoiceButton hand={hand} name="y" label={forAll(t("page.card.plan.free"), all)} disabled={disabled} does={() => approve("acceptEdits", "y")} />
          <ChoiceButton hand={hand} name="d" label={t("page.card.plan.revise")} disabled={disabled} does={go("revising")} />
          <ChoiceButton hand={hand} name="p" label={forAll(t("page.card.plan.outline"), all)} disabled={disabled} does={outline} />
          <ChoiceButton hand={hand} name="e" label={t("page.card.plan.edit")} disabled={disabled} does={go("editing")} />
        </Bar>
      )}
    </>
  );
}
