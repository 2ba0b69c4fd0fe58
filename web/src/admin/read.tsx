/** What an administration page reads from the hub, and how it says that it cannot. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, inWords } from "../store/http";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";

export interface Reading<T> {
  value: Signal<T | null>;
  trouble: Signal<string | null>;
  again: () => void;
  /** Does something, says what went wrong, and reads anew. */
  act: (what: () => Promise<unknown>) => Promise<boolean>;
}

export function useReading<T>(path: string): Reading<T> {
  const value = useSignal<T | null>(null);
  const trouble = useSignal<string | null>(null);
  const again = () => {
    get<T>(path).then(
      (read) => (value.value = read),
      (error: unknown) => (trouble.value = inWords(error, t.away)),
    );
  };
  useEffect(again, [path]);
  const act = async (what: () => Promise<unknown>) => {
    trouble.value = null;
    try {
      await what();
      again();
      return true;
    } catch (error) {
      trouble.value = inWords(error, t.away);
      return false;
    }
  };
  return { value, trouble, again, act };
}

/** Until it is here, or why it is not. */
export function Loading({ reading }: { reading: { trouble: Signal<string | null> } }) {
  return reading.trouble.value ? null : <p class="empty">{t.loading}</p>;
}

export function Trouble({ reading }: { reading: { trouble: Signal<string | null> } }) {
  return reading.trouble.value ? <p class="note trouble" role="alert">{reveal(reading.trouble.value)}</p> : null;
}
