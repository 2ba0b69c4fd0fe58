/** A permission: the change or the command first, then allow once, for longer (spelled out), edited, or deny and why. */
import { useSignal, type Signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { AskOf, CardChoice } from "../feed/model";
import { Unfolds } from "../parts/Folded";
import { Quoted } from "../parts/Quoted";
import { useDraft } from "../store/drafts";
import { fetchWhole, wholeOf } from "../store/wholes";
import { t } from "../texts";
import { choiceOf, refusesFirst, type Acting } from "./acting";
import { Bar, Choice, Control, forAll, nameOf } from "./Bar";
import { EditForm, useEdit, type Edited } from "./EditInput";
import { EvidenceList } from "./Evidence";
import { useKeys } from "./keys";
import { Reason } from "./Reason";

type PermissionStep = "deciding" | "denying" | "editing" | "reviewing";

interface PermissionProps extends Acting {
  ask: AskOf<"permission">;
}

/** What a person is doing with the card, and what they can do next. */
interface Decision {
  step: Signal<PermissionStep>;
  /** Whether the denial ends the turn as well. */
  stopping: Signal<boolean>;
  edit: Edited;
  go: (step: PermissionStep) => () => void;
  deny: (stops: boolean) => () => void;
  allowEdited: () => void;
}

export function PermissionCard(props: PermissionProps) {
  const step = useSignal<PermissionStep>("deciding");
  const stopping = useSignal(false);
  const whole = wholeOf(props.ask);
  // What is edited starts from the whole input, never from an excerpt.
  return <OnePermission key={whole ? "whole" : "cut"} {...props} ask={whole ? { ...props.ask, body: whole.body } : props.ask} whole={whole !== undefined} step={step} stopping={stopping} />;
}

interface OneProps extends PermissionProps {
  whole: boolean;
  step: Signal<PermissionStep>;
  stopping: Signal<boolean>;
}

function OnePermission(props: OneProps) {
  const { ask, hand } = props;
  const decision = useDecision(props);
  const { step, edit, go } = decision;
  // Another step has other controls.
  useLayoutEffect(() => hand.step(), [step.value]);
  usePermissionKeys(props, decision);
  return (
    <>
      <EvidenceList ask={ask} directory={props.directory} />
      {step.value === "editing" && !props.whole && <p class="note">{t("page.loading")}</p>}
      {(step.value === "editing" || step.value === "reviewing") && props.whole && (
        <EditForm ask={ask} edit={edit} reviewing={step.value === "reviewing"} review={go("reviewing")} leave={go("deciding")} />
      )}
      {step.value === "reviewing" && <ReviewBar {...props} decision={decision} />}
      {step.value === "denying" && <Denial {...props} decision={decision} />}
      {step.value === "deciding" && <DecideBar {...props} decision={decision} />}
    </>
  );
}

function useDecision({ ask, act, whole, step, stopping }: OneProps): Decision {
  const edit = useEdit(ask, whole);
  return {
    step,
    stopping,
    edit,
    go: (next) => () => {
      step.value = next;
      if (next === "editing" && !whole) fetchWhole(ask).catch(() => (step.value = "deciding"));
    },
    deny: (stops) => () => {
      stopping.value = stops;
      step.value = "denying";
    },
    allowEdited: () => {
      if (edit.input) act({ allow: true, for: "once", input: edit.input }, "a");
    },
  };
}

function usePermissionKeys({ ask, choose, disabled, all }: PermissionProps, { step, go, deny, allowEdited }: Decision): void {
  const deciding = !disabled && step.value === "deciding";
  const reviewing = !disabled && step.value === "reviewing";
  // What is allowed for longer is spelled out for this ask, not for the others.
  const longer = (act: string) => deciding && !all && (() => choose(choiceOf(ask, act)));
  useKeys(ask, {
    once: reviewing ? allowEdited : deciding && (() => choose(choiceOf(ask, "once"))),
    session: longer("session"),
    always: longer("always"),
    edit: (deciding || reviewing) && go("editing"),
    deny: (deciding || reviewing) && deny(false),
    stop: (deciding || reviewing) && deny(true),
  });
}

function DecideBar({ ask, hand, choose, disabled, all, decision }: PermissionProps & { decision: Decision }) {
  const once = choiceOf(ask, "once");
  const allow = <Choice hand={hand} choice={once} all={all} tag={refusesFirst(ask) ? "" : "primary"} disabled={disabled} does={() => choose(once)} />;
  return (
    <>
      <Bar hand={hand}>
        {refusesFirst(ask) || allow}
        <Choice hand={hand} choice={choiceOf(ask, "deny")} all={all} tag="danger" disabled={disabled} does={decision.deny(false)} />
        {refusesFirst(ask) && allow}
        <Choice hand={hand} choice={choiceOf(ask, "edit")} disabled={disabled} does={decision.go("editing")} />
      </Bar>
      {!all && <Longer ask={ask} hand={hand} disabled={disabled} choose={choose} />}
    </>
  );
}

function ReviewBar({ ask, hand, disabled, all, decision }: PermissionProps & { decision: Decision }) {
  const { edit, go, deny, allowEdited } = decision;
  const last = refusesFirst(ask);
  const label = forAll(t("page.card.allow_edited"), all);
  const allow = <Control hand={hand} name="a" label={label} tag={last ? "" : "primary"} disabled={disabled || edit.input === null} does={allowEdited} shown={last ? null : "a"} />;
  return (
    <Bar hand={hand}>
      {last || allow}
      <Choice hand={hand} choice={choiceOf(ask, "deny")} all={all} tag="danger" disabled={disabled} does={deny(false)} />
      {last && allow}
      <Control hand={hand} name="e" label={t("page.card.edit_again")} disabled={disabled} does={go("editing")} />
      <Control hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={go("deciding")} shown={null} />
    </Bar>
  );
}

/** Deny, and why: Enter denies, and ends the turn if that was chosen. */
function Denial({ ask, act, hand, disabled, all, decision }: PermissionProps & { decision: Decision }) {
  const { stopping, go } = decision;
  const [reason, setReason] = useDraft(`${ask.id}.reason`, "");
  const deny = (interrupt: boolean) => act({ allow: false, message: reason.trim(), interrupt }, interrupt ? "stop" : "deny");
  const label = (name: string) => forAll(choiceOf(ask, name)?.label ?? "", all);
  const enter = stopping.value ? "stop" : "deny";
  return (
    <Reason label={t("page.card.reason")} text={reason} change={setReason} rows={2} send={() => deny(stopping.value)} leave={go("deciding")}>
      <Control hand={hand} name="deny" label={label("deny")} tag="danger" disabled={disabled} does={() => deny(false)} shown={enter === "deny" ? "Enter" : null} />
      <Control hand={hand} name="stop" label={label("stop")} tag="danger quiet" disabled={disabled} does={() => deny(true)} shown={enter === "stop" ? "Enter" : null} />
      <Control hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={go("deciding")} shown={null} />
    </Reason>
  );
}

/** What could be allowed for longer than once, each with its scope in words. */
function Longer({ ask, hand, disabled, choose }: Pick<PermissionProps, "ask" | "hand" | "disabled" | "choose">) {
  const offers = ask.card.choices.filter(({ act }) => act === "session" || act === "always");
  const suggestions = ask.card.choices.filter(({ act }) => act === "suggestion");
  if (!offers.length && !suggestions.length) return null;
  const button = (choice: CardChoice, name: string, label: string) => (
    <Control key={name} hand={hand} name={name} tag="offer" disabled={disabled} does={() => choose(choice, name)} label={<Quoted text={label} />} shown={choice.key || null} />
  );
  return (
    <div class="longer" data-own>
      {offers.map((choice) => button(choice, nameOf(choice), choice.label))}
      {suggestions.length > 0 && (
        <Unfolds title={t("page.card.suggestions", { count: suggestions.length })}>{() => suggestions.map((choice, index) => button(choice, `suggestion-${index}`, choice.detail))}</Unfolds>
      )}
    </div>
  );
}
