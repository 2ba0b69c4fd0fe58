/** What was given to the prompts of a question, and the answer that it makes. Pure. */
import type { Choices, Prompt } from "../feed/model";

/** What was given to one prompt so far. Text stays while an option is chosen, and comes back with *Other*. */
export interface Given {
  labels: string[];
  other: boolean;
  text: string;
}

export const NOTHING: Given = { labels: [], other: false, text: "" };

export function isAnswered(prompt: Prompt, given: Given | undefined): boolean {
  if (!given) return false;
  const says = (given.other || !prompt.options.length) && given.text.trim() !== "";
  return says || (given.labels.length > 0 && (prompt.multi_select || !given.other));
}

/** Only what a person said: text that was left behind by choosing an option is none of it. */
export function choicesOf(prompts: readonly Prompt[], given: readonly Given[]): Choices {
  return {
    answers: prompts.map((prompt, index) => {
      const mine = given[index] ?? NOTHING;
      const says = (mine.other || !prompt.options.length) && mine.text.trim() !== "";
      const labels = prompt.multi_select || !says ? mine.labels : [];
      return { labels: prompt.options.map((option) => option.label).filter((label) => labels.includes(label)), text: says ? mine.text.trim() : null };
    }),
  };
}
