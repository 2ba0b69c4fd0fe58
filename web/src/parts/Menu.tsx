/** A menu behind a button: closes on a choice, on Escape, or when the focus leaves. */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "./Icons";

interface MenuProps {
  label: string;
  /** What is on the button: an icon, or a text. */
  icon?: IconName;
  text?: ComponentChildren;
  /** It opens upwards. */
  up?: boolean;
  children: (close: () => void) => ComponentChildren;
}

/** Calls back when a person presses or focuses something outside of it. */
export function useLeaving(frame: RefObject<HTMLElement | null>, open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) close();
    };
    addEventListener("pointerdown", leave);
    addEventListener("focusin", leave);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("focusin", leave);
    };
  }, [open]);
}

export function Menu({ label, icon, text, up = false, children }: MenuProps) {
  const open = useSignal(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => (open.value = false);
  useLeaving(frame, open.value, close);
  return (
    <div
      class="menu"
      ref={frame}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open.value) return;
        event.preventDefault();
        close();
        button.current?.focus();
      }}
    >
      <button
        type="button"
        class={icon ? "quiet square" : "quiet"}
        ref={button}
        aria-expanded={open.value}
        aria-label={icon ? label : undefined}
        title={label}
        onClick={() => (open.value = !open.value)}
      >
        {icon && <Icon name={icon} />}
        {text}
      </button>
      {open.value && <div class={up ? "menu-body up" : "menu-body"}>{children(close)}</div>}
    </div>
  );
}
