/** What a card needs to be answered, whatever its kind. */
import type { Answer, Ask, CardChoice } from "../feed/model";
import type { Hand } from "../hands/Hand";

export interface Acting {
  /** Sends an answer, if it was meant. `control` names what was pressed: it shows why nothing was sent. */
  act: (answer: Answer, control: string) => void;
  /** Sends a choice's answer, by its control. */
  choose: (choice: CardChoice | undefined, control?: string) => void;
  /** The card in front of the person: what was seen, and whether it stands still. */
  hand: Hand;
  /** It can't be answered: the answer is on its way, it is settled, or the role isn't enough. */
  disabled: boolean;
  directory: string | null;
  /** How many identical asks the answer goes to; 0 for this one alone. */
  all: number;
}

/** The choice of this name, if the hub offers it. */
export function choiceOf(ask: Ask, act: string): CardChoice | undefined {
  return ask.card.choices.find((each) => each.act === act);
}

/** Whether the hub puts refusing first: then nothing that grants is the obvious button. */
export function refusesFirst(ask: Ask): boolean {
  return ask.card.choices[0]?.weight === "refuse";
}
