/** A permission: the change or the command first, then once, for longer in spelled-out words, edited, or no and why. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Allow, AskOf } from "../feed/model";
import { Unfolds } from "../parts/Folded";
import { Quoted } from "../parts/Quoted";
import { useDraft } from "../store/drafts";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { ChoiceButton, Bar, forAll } from "./Bar";
import type { Acting } from "./Card";
import { Edit, useEdit } from "./EditInput";
import { Evidence } from "./Evidence";
import { useKeys } from "./keys";

type Doing = "deciding" | "denying" | "editing" | "reviewing";

export function PermissionCard({ ask, act, hand, disabled, directory, all }: Acting & { ask: AskOf<"permission"> }) {
  const { body } = ask;
  const doing = useSignal<Doing>("deciding");
  /** Whether Enter, after the reason, ends the turn as well. */
  const stopping = useSignal(false);
  const [reason, setReason] = useDraft(`${ask.id}.reason`, "");
  const edit = useEdit(ask);
  const reasonField = useRef<HTMLTextAreaElement>(null);
  const { value: step } = doing;
  const allow = (control: string, how: Partial<Allow> = {}) => act({ allow: true, for: "once", ...how }, control);
  const deny = (interrupt: boolean) => act({ allow: false, message: reason.trim(), interrupt }, interrupt ? "stop" : "deny");
  const beginDenying = (ends: boolean) => () => {
    stopping.value = ends;
    doing.value = "denying";
  };
  const go = (next: Doing) => () => (doing.value = next);
  // What is allowed for longer is spelled out for this ask, and not for the others.
  const offered = (lasting: "session" | "always") => !all && body.offers.some((offer) => offer.for === lasting);
  const allowEdited = () => edit.input && allow("a", { input: edit.input });

  // Before the next letter is heard: what is typed after `d` is the reason.
  useLayoutEffect(() => {
    if (step === "denying") reasonField.current?.focus();
    hand.step();
  }, [step]);
  const deciding = !disabled && step === "deciding";
  const choosing = deciding || (!disabled && step === "reviewing");
  const longer = (lasting: "session" | "always", control: string) => deciding && offered(lasting) && (() => allow(control, { for: lasting }));
  useKeys(ask, {
    once: choosing && (step === "reviewing" ? allowEdited : () => allow("a")),
    session: longer("session", "s"),
    always: longer("always", "w"),
    edit: choosing && go("editing"),
    deny: choosing && beginDenying(false),
    stop: choosing && beginDenying(true),
  });

  return (
    <>
      <Evidence ask={ask} directory={directory} />
      {(step === "editing" || step === "reviewing") && <Edit ask={ask} edit={edit} reviewing={step === "reviewing"} review={go("reviewing")} leave={go("deciding")} />}
      {step === "reviewing" && (
        <Bar hand={hand}>
          <ChoiceButton hand={hand} name="a" label={forAll(t("page.card.allow_edited"), all)} tag="primary" disabled={disabled || edit.input === null} does={allowEdited} />
          <ChoiceButton hand={hand} name="d" label={forAll(t("page.card.permission.deny"), all)} tag="danger" disabled={disabled} does={beginDenying(false)} />
          <ChoiceButton hand={hand} name="e" label={t("page.card.edit_again")} disabled={disabled} does={go("editing")} />
          <ChoiceButton hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={go("deciding")} shown={null} />
        </Bar>
      )}
      {step === "denying" && (
        <form
          class="controls column asks"
          data-own
          onSubmit={(event) => {
            event.preventDefault();
            deny(stopping.value);
          }}
        >
          <textarea
            ref={reasonField}
            rows={2}
            aria-label={t("page.card.reason")}
            placeholder={t("page.card.reason")}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                deny(stopping.value);
              } else if (event.key === "Escape") doing.value = "deciding";
            }}
          />
          <div class="row-of-buttons">
            <ChoiceButton
              hand={hand}
              name="deny"
              label={forAll(t("page.card.permission.deny"), all)}
              tag="danger"
              disabled={disabled}
              does={() => deny(false)}
              shown={stopping.value ? null : "Enter"}
            />
            <ChoiceButton
              hand={hand}
              name="stop"
              label={forAll(t("page.card.permission.stop"), all)}
              tag="danger quiet"
              disabled={disabled}
              does={() => deny(true)}
              shown={stopping.value ? "Enter" : null}
            />
            <ChoiceButton hand={hand} name="cancel" label={t("page.cancel")} tag="quiet" disabled={false} does={go("deciding")} shown={null} />
          </div>
        </form>
      )}
      {step === "deciding" && (
        <>
          <Bar hand={hand}>
            <ChoiceButton hand={hand} name="a" label={forAll(t("page.card.permission.once"), all)} tag="primary" disabled={disabled} does={() => allow("a")} />
            <ChoiceButton hand={hand} name="d" label={forAll(t("page.card.permission.deny"), all)} tag="danger" disabled={disabled} does={beginDenying(false)} />
            <ChoiceButton hand={hand} name="e" label={t("page.card.permission.edit_first")} disabled={disabled} does={go("editing")} />
          </Bar>
          {!all && <Longer ask={ask} hand={hand} disabled={disabled} allow={allow} />}
        </>
      )}
    </>
  );
}

/** What could be allowed beyond this once, each with its scope in words. */
function Longer({ ask, hand, disabled, allow }: Pick<Acting, "hand" | "disabled"> & { ask: AskOf<"permission">; allow: (control: string, how: Partial<Allow>) => void }) {
  const { offers, suggestions_in_words: suggested } = ask.body;
  if (!offers.length && !suggested.length) return null;
  return (
    <div class="longer" data-own>
      {offers.map((offer) => {
        const key = offer.for === "session" ? "s" : "w";
        return <ChoiceButton key={key} hand={hand} name={key} tag="offer" disabled={disabled} does={() => allow(key, { for: offer.for })} label={<Quoted text={reveal(offer.scope)} />} />;
      })}
      {suggested.length > 0 && (
        <Unfolds title={t("page.card.suggestions", { count: suggested.length })}>
          {() =>
            suggested.map((words, index) => (
              <ChoiceButton
                key={index}
                hand={hand}
                name={`suggestion-${index}`}
                tag="offer"
                disabled={disabled}
                does={() => allow(`suggestion-${index}`, { suggestions: [index] })}
                label={<Quoted text={reveal(words)} />}
                shown={null}
              />
            ))
          }
        </Unfolds>
      )}
    </div>
  );
}
