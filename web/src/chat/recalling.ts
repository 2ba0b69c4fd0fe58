/** The up arrow in the composer: brings back what was said in this conversation. */
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Session } from "../feed/model";
import { conversation } from "../store/timelines";
import { historyOf, leavesText, step, type Recall } from "./recall";

export function useRecall(session: Session, field: RefObject<HTMLTextAreaElement | null>, text: string, setText: (text: string) => void) {
  const recall = useRef<Recall | null>(null);
  const press = (event: KeyboardEvent): boolean => {
    const area = field.current;
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (!area || !by || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    const unchanged = recall.current?.shown === text;
    if (!leavesText(text, area.selectionStart, area.selectionEnd, unchanged)) return false;
    const next = step(said(session.id), recall.current, text, by);
    if (!next) return false;
    event.preventDefault();
    recall.current = next.recall;
    setText(next.text);
    requestAnimationFrame(() => area.setSelectionRange(next.text.length, next.text.length));
    return true;
  };
  return { press };
}

/** What people said here, as far as it is loaded, newest first. */
function said(session: string): string[] {
  const talk = conversation(session);
  const entries = talk.blocks
    .peek()
    .flat()
    .flatMap((entry) => (entry.kind === "said" ? [entry.item.text] : []));
  return historyOf([...entries, ...talk.waiting.peek().map((item) => item.text)]);
}
