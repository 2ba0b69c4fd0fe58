/** What a card gets to be answered with, whatever its kind. */
import type { Answer, Ask, CardChoice } from "../feed/model";
import type { Hand } from "../hands/Hand";

export interface Acting {
  /** Sends an answer, if the hand meant it. `control` names what was pressed: why nothing was sent is said there. */
  act: (answer: Answer, control: string) => void;
  /** Sends the answer of a choice, by its control. */
  choose: (choice: CardChoice | undefined, control?: string) => void;
  /** The card before the person's hand: what of it was seen, and whether it stands still. */
  hand: Hand;
  /** Nothing can be answered: it is on its way, over, or not for this role. */
  disabled: boolean;
  directory: string | null;
  /** How many identical asks the answer is given to; 0 if to this one alone. */
  all: number;
}

/** The choice of this name, if the hub offers it. */
export function choiceOf(ask: Ask, act: string): CardChoice | undefined {
  return ask.card.choices.find((each) => each.act === act);
}
