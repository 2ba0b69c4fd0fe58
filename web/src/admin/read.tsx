/** What an administration page reads from the hub, and how it reports errors. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, explainError } from "../store/http";
import { reveal } from "../text/reveal";
import { t } from "../texts";

export interface Resource<T> {
  value: Signal<T | null>;
  trouble: Signal<string | null>;
  again: () => void;
  /** Does something, shows errors, and reads again. */
  act: (what: () => Promise<unknown>) => Promise<boolean>;
}

export function useResource<T>(path: string): Resource<T> {
  const value = useSignal<T | null>(null);
  const trouble = useSignal<string | null>(null);
  const last = useRef(0);
  const again = () => {
    const number = (last.current += 1);
    // An older request that answers later is ignored.
    get<T>(path).then(
      (read) => number === last.current && (value.value = read),
      (error: unknown) => number === last.current && (trouble.value = explainError(error)),
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
      trouble.value = explainError(error);
      return false;
    }
  };
  return { value, trouble, again, act };
}

/** While loading, or why it failed. */
export function Loading({ reading }: { reading: { trouble: Signal<string | null> } }) {
  return reading.trouble.value ? null : <p class="empty">{t("page.loading")}</p>;
}

/** At the top of its page, and scrolled into view: the button may be further down. */
export function Trouble({ reading }: { reading: { trouble: Signal<string | null> } }) {
  const note = useRef<HTMLParagraphElement>(null);
  const text = reading.trouble.value;
  useEffect(() => note.current?.scrollIntoView({ block: "nearest" }), [text]);
  return text ? (
    <p class="note trouble" role="alert" ref={note}>
      {reveal(text)}
    </p>
  ) : null;
}
