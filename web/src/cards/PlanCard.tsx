/** A plan: its Markdown, and the ways to continue. */
import { useSignal, type Signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import type { Answer, AskOf } from "../feed/model";
import { SubmitForm } from "../parts/Form";
import { Markdown } from "../parts/Markdown";
import { Rewrite } from "../parts/Rewrite";
import { useDraft } from "../store/drafts";
import { fromField, toField } from "../text/editing";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { choiceOf, refusesFirst, type Acting } from "./acting";
import { Bar, Choice, Control, forAll, nameOf } from "./Bar";
import { Changes } from "./EditInput";
import { useKeys } from "./keys";
import { Reason } from "./Reason";

type PlanStep = "deciding" | "revising" | "editing";

interface PlanProps extends Acting {
  ask: AskOf<"plan">;
}

/** The plan, possibly edited. */
interface PlanEdit {
  asked: string;
  field: string;
  change: (field: string) => void;
  plan: string;
  edited: boolean;
  undo: () => void;
}

export function PlanCard(props: PlanProps) {
  const { ask, hand } = props;
  const step = useSignal<PlanStep>("deciding");
  const edit = usePlanEdit(ask);
  useLayoutEffect(() => hand.step(), [step.value]);
  useLayoutEffect(() => hand.change(), [edit.plan]);
  const approve = useApproval(props, edit);
  usePlanKeys(props, step, approve);
  return (
    <>
      {edit.edited && step.value !== "editing" && <PlanChanges edit={edit} />}
      {step.value === "editing" ? <PlanEditor edit={edit} leave={() => (step.value = "deciding")} /> : <PlanText text={edit.edited ? edit.plan : edit.asked} />}
      {step.value === "revising" && <SendBack {...props} leave={() => (step.value = "deciding")} />}
      {step.value === "deciding" && <PlanBar {...props} step={step} approve={approve} />}
    </>
  );
}

function usePlanEdit(ask: AskOf<"plan">): PlanEdit {
  const asked = ask.body.plan;
  const [field, change] = useDraft(`${ask.id}.plan`, toField(asked));
  const plan = useMemo(() => fromField(field, asked), [field, asked]);
  return { asked, field, change, plan, edited: plan !== asked && plan.trim() !== "", undo: () => change(toField(asked)) };
}

/** Approves with one of the choices, with the edited plan. */
function useApproval({ ask, act }: PlanProps, { edited, plan }: PlanEdit): (name: string) => () => void {
  return (name) => () => {
    const choice = choiceOf(ask, name);
    if (choice?.answer) act({ ...choice.answer, ...(edited ? { plan } : {}) } as Answer, nameOf(choice));
  };
}

function usePlanKeys({ ask, choose, disabled }: PlanProps, step: Signal<PlanStep>, approve: (name: string) => () => void): void {
  const go = (next: PlanStep) => () => (step.value = next);
  const deciding = !disabled && step.value === "deciding";
  useKeys(ask, {
    approve: deciding && approve("approve"),
    free: deciding && approve("free"),
    revise: deciding && go("revising"),
    edit: deciding && go("editing"),
    outline: deciding && (() => choose(choiceOf(ask, "outline"))),
  });
}

function PlanBar({ ask, hand, choose, disabled, all, step, approve }: PlanProps & { step: Signal<PlanStep>; approve: (name: string) => () => void }) {
  const outline = choiceOf(ask, "outline");
  const go = (next: PlanStep) => () => (step.value = next);
  const last = refusesFirst(ask);
  const approvals = (
    <>
      <Choice explained hand={hand} choice={choiceOf(ask, "approve")} all={all} tag={last ? "" : "primary"} disabled={disabled} does={approve("approve")} />
      <Choice explained hand={hand} choice={choiceOf(ask, "free")} all={all} disabled={disabled} does={approve("free")} />
    </>
  );
  return (
    <Bar hand={hand} tag="explained">
      {last || approvals}
      <Choice hand={hand} choice={choiceOf(ask, "revise")} disabled={disabled} does={go("revising")} />
      <Choice hand={hand} choice={outline} all={all} disabled={disabled} does={() => choose(outline)} />
      {last && approvals}
      <Choice hand={hand} choice={choiceOf(ask, "edit")} disabled={disabled} does={go("editing")} />
    </Bar>
  );
}

function PlanText({ text }: { text: string }) {
  return (
    <div class="plan-text" role="region" aria-label={t("card.kind.plan")} data-evidence>
      <Markdown text={reveal(text)} strict />
    </div>
  );
}

function PlanChanges({ edit }: { edit: PlanEdit }) {
  return (
    <div class="edited">
      <Changes before={edit.asked} after={edit.plan} what={t("card.kind.plan")} />
      <button type="button" class="quiet small" onClick={edit.undo}>
        {t("page.card.undo_edit")}
      </button>
    </div>
  );
}

function PlanEditor({ edit, leave }: { edit: PlanEdit; leave: () => void }) {
  return (
    <SubmitForm class="controls column" data-own submit={leave}>
      <Rewrite label={t("page.card.edit_plan")} field={edit.field} change={edit.change} before={edit.asked} done={leave} leave={leave} most={24} />
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("page.card.review_changes")} <kbd aria-hidden="true">Ctrl Enter</kbd>
        </button>
        {edit.edited && (
          <button type="button" class="quiet" onClick={edit.undo}>
            {t("page.card.undo_edit")}
          </button>
        )}
      </div>
    </SubmitForm>
  );
}

function SendBack({ ask, act, hand, disabled, all, leave }: PlanProps & { leave: () => void }) {
  const [feedback, setFeedback] = useDraft(`${ask.id}.feedback`, "");
  const send = () => act({ approve: false, message: feedback.trim() }, "back");
  return (
    <Reason label={t("page.card.feedback")} text={feedback} change={setFeedback} rows={3} send={send} leave={leave}>
      <Control hand={hand} name="back" label={forAll(choiceOf(ask, "revise")?.label ?? "", all)} tag="primary" disabled={disabled || !feedback.trim()} shown="Enter" />
      <Control hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={leave} shown={null} />
    </Reason>
  );
}
