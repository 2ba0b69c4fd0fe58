/** A button with a menu of choices, each with what it means. Arrow keys move, Enter chooses, Escape goes back. */
import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { reveal } from "../text/reveal";
import { Icon } from "./Icons";
import { useLeaving } from "./Menu";

export interface PickerChoice {
  value: string;
  name: string;
  detail?: string;
  danger?: boolean;
}

interface PickerProps {
  /** What is chosen here, and the choice; a phone shows only the choice. */
  label: string;
  shown: string;
  choices: readonly PickerChoice[];
  value: string;
  choose: (value: string) => void;
  disabled?: boolean;
  title?: string | undefined;
  /** The last line: a choice of another kind. */
  more?: { name: string; act: () => void };
}

export function Picker({ label, shown, choices, value, choose, disabled = false, title, more }: PickerProps) {
  const open = useSignal(false);
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => (open.value = false);
  useLeaving(frame, open.value, close);
  useLayoutEffect(() => {
    if (open.value) (frame.current?.querySelector<HTMLElement>("[aria-checked=true]") ?? items(frame.current)[0])?.focus();
  }, [open.value]);
  const leave = () => {
    close();
    button.current?.focus();
  };
  const after = (act: () => void) => () => {
    leave();
    act();
  };
  const press = (event: KeyboardEvent) => {
    if (!open.value) return;
    if (event.key === "Escape") leave();
    else if (!move(frame.current, event.key)) return;
    event.preventDefault();
  };
  return (
    <div class="menu picker" ref={frame} onKeyDown={press}>
      <button
        type="button"
        class="quiet"
        ref={button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open.value}
        aria-controls={open.value ? id : undefined}
        disabled={disabled}
        title={title}
        onClick={() => (open.value = !open.value)}
      >
        <span class="wide-only">{label}</span>
        <span class="phone-only">{shown}</span> <Icon name="down" />
      </button>
      {open.value && (
        <div id={id} class="menu-body up" role="menu" aria-label={label}>
          {choices.map((choice) => (
            <PickerItem key={choice.value} choice={choice} checked={choice.value === value} choose={after(() => choice.value !== value && choose(choice.value))} />
          ))}
          {more && (
            <button type="button" class="quiet" role="menuitem" tabIndex={-1} onClick={after(more.act)}>
              {more.name}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function PickerItem({ choice, checked, choose }: { choice: PickerChoice; checked: boolean; choose: () => void }) {
  return (
    <button type="button" class={choice.danger ? "quiet choice danger" : "quiet choice"} role="menuitemradio" aria-checked={checked} tabIndex={-1} onClick={choose}>
      <span class="choice-mark">{checked && <Icon name="check" />}</span>
      <span>
        <strong>{reveal(choice.name)}</strong>
        {choice.detail && <small class="quiet-text">{reveal(choice.detail)}</small>}
      </span>
    </button>
  );
}

function items(frame: HTMLElement | null): HTMLElement[] {
  return [...(frame?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
}

/** Whether the key moved the focus. */
function move(frame: HTMLElement | null, key: string): boolean {
  const all = items(frame);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[key];
  if (next === undefined) return false;
  all[next]?.focus();
  return true;
}
