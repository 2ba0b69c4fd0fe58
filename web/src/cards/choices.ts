/** What a person chose and wrote for each prompt of a question, and the resulting answer. Pure. */
import type { Choices, Prompt } from "../feed/model";

/** One prompt's answer so far. Text stays while an option is chosen, and comes back with *Other*. */
export interface PromptAnswer {
  labels: string[];
  other: boolean;
  text: string;
}

export const NOTHING: PromptAnswer = { labels: [], other: false, text: "" };

export function isAnswered(prompt: Prompt, answer: PromptAnswer | undefined): boolean {
  if (!answer) return false;
  const writes = (answer.other || !prompt.options.length) && answer.text.trim() !== "";
  return writes || (answer.labels.length > 0 && (prompt.multi_select || !answer.other));
}

/** Only what a person meant: text left behind by choosing an option is not part of it. */
export function choicesOf(prompts: readonly Prompt[], answers: readonly PromptAnswer[]): Choices {
  return {
    answers: prompts.map((prompt, index) => {
      const mine = answers[index] ?? NOTHING;
      const writes = (mine.other || !prompt.options.length) && mine.text.trim() !== "";
      const labels = prompt.multi_select || !writes ? mine.labels : [];
      return { labels: prompt.options.map((option) => option.label).filter((label) => labels.includes(label)), text: writes ? mine.text.trim() : null };
    }),
  };
}
