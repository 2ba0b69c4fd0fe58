/** Earlier messages, brought back with the up arrow as in a shell. Pure. */

export interface Recall {
  /** How far back: 0 is the last message. */
  at: number;
  /** The message that is shown. */
  shown: string;
  /** What was in the field before. */
  unsent: string;
}

/** Newest first, without repetitions in a row. */
export function historyOf(texts: readonly string[]): string[] {
  return texts.filter((text, at) => text.trim() && text !== texts[at + 1]).reverse();
}

/** One message further back (1) or forward (-1). Null: nothing changes. `recall` null with a text: back to what was unsent. */
export function step(history: readonly string[], recall: Recall | null, text: string, by: 1 | -1): { recall: Recall | null; text: string } | null {
  // Once it was changed, it is a message of its own.
  const now = recall && recall.shown === text ? recall : null;
  if (!now && by === -1) return null;
  const at = (now?.at ?? -1) + by;
  const unsent = now?.unsent ?? text;
  if (at < 0) return { recall: null, text: unsent };
  const shown = history[at];
  return shown === undefined ? null : { recall: { at, shown, unsent }, text: shown };
}

/** Whether the arrow leaves the text: it is empty or the caret is at its start, or an unchanged recalled message is shown with the caret at an end. */
export function leavesText(text: string, start: number, end: number, recalled: boolean): boolean {
  if (start !== end) return false;
  return start === 0 || (recalled && start === text.length);
}
