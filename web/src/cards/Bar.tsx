/** What a card is decided by: controls that stay in reach, say what was not read yet, and why they did nothing. */
import type { ComponentChildren } from "preact";
import type { Hand, Refusal } from "../hands/Hand";
import { t } from "../texts";

/** `tag`: more classes. Where not all was on the screen, it says so. */
export function Bar({ hand, tag = "", children }: { hand: Hand; tag?: string; children: ComponentChildren }) {
  return (
    <div class={`controls ${tag}`} data-own>
      <Unread hand={hand} />
      {children}
    </div>
  );
}

export function Unread({ hand }: { hand: Hand }) {
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

/** A control's label, where the answer goes to several requests at once. */
export function forAll(label: string, count: number): string {
  return count ? t("page.inbox.label_for_all", { label, count }) : label;
}

interface BarProps {
  hand: Hand;
  /** The control's name: its key, where it has one. */
  name: string;
  label: ComponentChildren;
  does?: () => void;
  disabled: boolean;
  tag?: string;
  /** The key as it is shown, if it is not the name. */
  shown?: string | null;
  id?: string;
}

/** A button that gives an answer. Without `does` it sends its form. */
export function ChoiceButton({ hand, name, label, does, disabled, tag = "", shown = name, id }: BarProps) {
  const { value: refusal } = hand.refusal;
  return (
    <button type={does ? "button" : "submit"} class={`act ${tag}${hand.pressed.value === name ? " pressed" : ""}`} data-control={name} id={id} disabled={disabled} onClick={does}>
      <span>
        {label}
        {hand.warned.value === name && " "}
        {hand.warned.value === name && t("page.card.without_rest", { count: hand.unread.value })}
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
