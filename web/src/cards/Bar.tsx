/** The controls of a card: they stay in reach, and say what was not read yet and why they did nothing. */
import type { ComponentChildren } from "preact";
import type { CardChoice } from "../feed/model";
import type { Hand, Refusal } from "../hands/Hand";
import { Quoted } from "../parts/Quoted";
import { t } from "../texts";

/** `tag`: more classes. Says if not everything was on the screen. */
export function Bar({ hand, tag = "", children }: { hand: Hand; tag?: string; children: ComponentChildren }) {
  return (
    <div class={`controls ${tag}`} data-own>
      <Unread hand={hand} />
      {children}
    </div>
  );
}

function Unread({ hand }: { hand: Hand }) {
  const lines = hand.unread.value;
  if (!lines) return null;
  return (
    <button type="button" class="unread" onClick={() => hand.toUnread()}>
      {t("page.more_lines", { count: lines })} <span aria-hidden="true">{hand.unreadAbove.value ? "↑" : "↓"}</span>
    </button>
  );
}

/** Why a control did nothing. */
export function refusalOf({ verdict }: Refusal): string {
  return verdict === "unseen" ? t("page.card.refused.unseen") : t("page.card.refused.wait");
}

/** A control's label, if the answer goes to several requests. */
export function forAll(label: string, count: number): string {
  return count ? t("page.inbox.label_for_all", { label, count }) : label;
}

interface ControlProps {
  hand: Hand;
  /** The control's name: its key, if it has one. */
  name: string;
  label: ComponentChildren;
  does?: (() => void) | undefined;
  disabled: boolean;
  tag?: string;
  /** The key as it is shown, if it is not the name. */
  shown?: string | null;
  id?: string | undefined;
  title?: string | undefined;
}

/** A button that gives an answer, or leads to one. Without `does` it sends its form. */
export function Control({ hand, name, label, does, disabled, tag = "", shown = name, id, title }: ControlProps) {
  const { value: refusal } = hand.refusal;
  return (
    <button type={does ? "button" : "submit"} class={`act ${tag}${hand.pressed.value === name ? " pressed" : ""}`} data-control={name} id={id} title={title} disabled={disabled} onClick={does}>
      <span>
        {label}
        {hand.warned.value === name && ` ${t("page.card.without_rest", { count: hand.unread.value })}`}
      </span>
      {shown !== null && <kbd aria-hidden="true">{shown}</kbd>}
      {refusal?.control === name && (
        <span class="refusal" aria-hidden="true">
          {refusalOf(refusal)}
        </span>
      )}
    </button>
  );
}

interface ChoiceProps {
  hand: Hand;
  /** None if the hub doesn't offer it. */
  choice: CardChoice | undefined;
  does: () => void;
  disabled: boolean;
  tag?: string;
  id?: string;
  /** How many identical asks the answer goes to; 0 for this one alone. */
  all?: number;
  /** Its key is not shown: it only leads here. */
  quiet?: boolean;
  /** Its effect is below its name; otherwise it is a tooltip. */
  explained?: boolean;
}

/** One of the card's choices, in the hub's words and with its key. */
export function Choice({ choice, all = 0, quiet = false, explained = false, ...rest }: ChoiceProps) {
  if (!choice) return null;
  const label = (
    <>
      <Quoted text={forAll(choice.label, all)} />
      {explained && choice.detail && <small>{choice.detail}</small>}
    </>
  );
  return <Control {...rest} name={nameOf(choice)} label={label} title={explained ? undefined : choice.detail || undefined} shown={(!quiet && choice.key) || null} />;
}

/** The name of a choice's control. */
export function nameOf(choice: CardChoice): string {
  return choice.key || choice.act;
}
