/** Completion in the composer: when the list is open, what the keys do, and what screen readers hear. */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent, RefObject } from "preact";
import { useEffect, useId } from "preact/hooks";
import { completingAt, insert, isTaken, type Completing } from "./completing";
import type { Offer } from "./Completions";

/** Where the commands and files come from. */
export interface CompletionSource {
  /** A query of `/api/abilities`. */
  abilities: string;
  /** The path to which what was typed is added; null if there are none. */
  files: string | null;
}

type List = FunctionComponent<Parameters<typeof import("./Completions").default>[0]>;

interface Completion {
  list: ComponentChildren;
  /** Whether the key was for the list. */
  press: (event: KeyboardEvent) => boolean;
  /** The text was changed, and its state was set: drawn again before that, the field would lose a letter. */
  typed: () => void;
  attributes: object;
}

const NOTHING: Offer = { options: [], note: "" };

export function useCompletion(source: CompletionSource, field: RefObject<HTMLTextAreaElement | null>, setText: (text: string) => void): Completion {
  const id = useId();
  const completing = useSignal<Completing | null>(null);
  const active = useSignal(0);
  const offer = useSignal<Offer>(NOTHING);
  const loaded = useSignal<{ List: List } | null>(null);
  const look = () => {
    const area = field.current;
    const found = area && document.activeElement === area && area.selectionStart === area.selectionEnd ? completingAt(area.value, area.selectionStart) : null;
    if (!found) close();
    else if (!isSame(completing.peek(), found)) completing.value = found;
    if (found && !loaded.peek()) void import("./Completions").then((part) => (loaded.value = { List: part.default }), close);
  };
  const close = () => {
    completing.value = null;
    offer.value = NOTHING;
  };
  const pick = (value: string) => {
    const area = field.current;
    // As the text is by now: letters may have been typed since the list was drawn.
    const at = area && completingAt(area.value, area.selectionStart);
    if (!at || at.kind !== completing.peek()?.kind) return;
    const [text, caret] = insert(area.value, at, value);
    close();
    setText(text);
    // After the field shows it; a directory is continued.
    requestAnimationFrame(() => {
      area.focus();
      area.setSelectionRange(caret, caret);
      if (value.endsWith("/")) look();
    });
  };
  useEffect(() => close(), [source.abilities, source.files]);
  const open = useComputed(() => completing.value !== null && offer.value.options.length > 0).value;
  const List = loaded.value?.List;
  return {
    list: completing.value && List && <List id={id} source={source} completing={completing.value} active={active} offer={offer} pick={pick} />,
    press: (event) => {
      const at = completing.peek();
      return at !== null && act(event.key, event, { at, active, offer: offer.peek(), pick, close });
    },
    typed: look,
    attributes: {
      onClick: look,
      onKeyUp: (event: KeyboardEvent) => ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && look(),
      onBlur: close,
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      ...(open ? { "aria-controls": id, "aria-activedescendant": `${id}-${active.value}` } : {}),
    },
  };
}

interface Acts {
  at: Completing;
  active: { value: number };
  offer: Offer;
  pick: (value: string) => void;
  close: () => void;
}

function act(key: string, event: KeyboardEvent, { at, active, offer: { options }, pick, close }: Acts): boolean {
  const chosen = options[active.value];
  const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!plain) return false;
  if (key === "Escape") close();
  else if (!chosen) return false;
  else if (key === "ArrowDown") active.value = (active.value + 1) % options.length;
  else if (key === "ArrowUp") active.value = (active.value - 1 + options.length) % options.length;
  else if (key === "Enter" && active.value === 0 && !isTaken(at, chosen.value)) {
    close();
    return false;
  } else if (key === "Enter" || key === "Tab") pick(chosen.value);
  else return false;
  event.preventDefault();
  return true;
}

function isSame(a: Completing | null, b: Completing): boolean {
  return a !== null && a.kind === b.kind && a.typed === b.typed && a.from === b.from && a.to === b.to;
}
