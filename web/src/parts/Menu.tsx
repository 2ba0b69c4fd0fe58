/** A menu behind a button: closes on a choice, on Escape, or when the focus leaves. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "./Icons";

interface MenuProps {
  label: string;
  icon: IconName;
  children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, icon, children }: MenuProps) {
  const open = useSignal(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => (open.value = false);
  useEffect(() => {
    if (!open.value) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !frame.current?.contains(event.target)) close();
    };
    addEventListener("pointerdown", leave);
    addEventListener("focusin", leave);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("focusin", leave);
    };
  }, [open.value]);
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
      <button type="button" class="quiet square" ref={button} aria-expanded={open.value} aria-label={label} title={label} onClick={() => (open.value = !open.value)}>
        <Icon name={icon} />
      </button>
      {open.value && <div class="menu-body">{children(close)}</div>}
    </div>
  );
}
