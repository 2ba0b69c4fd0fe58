/** Tells the hub which conversation is on the screen, if it may run on another machine: then its unfinished text comes, too. */
import { useEffect } from "preact/hooks";
import { me } from "../store/desk";
import { show } from "../store/stream";

/** A page in the background counts as looked at for this long: people switch between windows. */
const AWAY_MS = 60_000;

export function useWatching(session: string): void {
  const shared = me.value?.shared ?? false;
  useEffect(() => {
    if (!shared) return;
    let away: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(away);
      if (document.hidden) away = setTimeout(() => show([]), AWAY_MS);
      else show([session]);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(away);
      document.removeEventListener("visibilitychange", look);
      show([]);
    };
  }, [session, shared]);
}
