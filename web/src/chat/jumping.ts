/** A link to one item of a conversation: loads back to it, brings it into view and marks it for a moment. */
import { useEffect } from "preact/hooks";
import { entryOf } from "../feed/place";
import { askOf } from "../store/desk";
import { isJoined } from "../feed/joining";
import { target } from "../store/place";
import { loadBackTo, type Conversation } from "../store/timelines";
import { shownEntry } from "./Entry";
import type { ReadingPlace } from "./scrolling";

/** How often to look for an entry that is being drawn: once per frame. */
const FRAMES = 60;

export function useJump(session: string, talk: Conversation, reading: ReadingPlace, frame: { current: HTMLElement | null }): void {
  const wanted = target.value;
  useEffect(() => {
    if (!wanted) return undefined;
    let here = true;
    reading.stay();
    void loadBackTo(session, wanted.cursor).then((found) => {
      const entry = found && here ? entryOf(talk.blocks.peek(), wanted.cursor, (ask) => isJoined(askOf(ask))) : null;
      if (!entry) return;
      shownEntry.value = entry.key;
      let left = FRAMES;
      const look = () => {
        const element = frame.current?.querySelector<HTMLElement>(`[data-at~="${entry.key}"]`);
        if (!here || (left -= 1) < 0) return;
        if (!element?.firstElementChild) return void requestAnimationFrame(look);
        if (entry.folded) element.querySelector("details")?.setAttribute("open", "");
        reading.show(element);
        element.classList.add("found-here");
        setTimeout(() => element.classList.remove("found-here"), 2500);
      };
      requestAnimationFrame(look);
    });
    return () => {
      here = false;
    };
  }, [wanted]);
}
