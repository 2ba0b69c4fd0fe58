/** Where a conversation is read: at its end, which stays in view, or at an entry, which keeps its position. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

/** Closer to the end than this counts as at the end. */
const NEAR = 80;
/** What ends within this many pixels is out of sight. */
const MARGIN = 4;
/** History is loaded when less than this is left above. */
const EARLY = 1600;

export class ReadingPlace {
  /** Whether the end is out of sight. */
  readonly away = signal(false);
  private frame: HTMLElement | null = null;
  private anchor: { entry: Element; top: number } | null = null;
  private watch: ResizeObserver | null = null;

  constructor(private readonly early: () => void) {}

  get atEnd(): boolean {
    return !this.away.peek();
  }

  /** Starts to keep the position in this element, whatever grows or shrinks in it. */
  enter(frame: HTMLElement): void {
    this.frame = frame;
    this.watch = new ResizeObserver(() => this.settle());
    this.watch.observe(frame);
    if (frame.firstElementChild) this.watch.observe(frame.firstElementChild);
    this.settle();
  }

  leave(): void {
    this.watch?.disconnect();
    this.frame = null;
  }

  toEnd(): void {
    this.away.value = false;
    this.settle();
  }

  /** A link leads to another place: the end is left alone. */
  stay(): void {
    this.away.value = true;
  }

  /** Brings an entry into view, and keeps it there. */
  show(entry: HTMLElement): void {
    const { frame } = this;
    if (!frame) return;
    this.away.value = true;
    const top = frame.clientHeight / 4;
    this.anchor = { entry, top };
    frame.scrollTop += entry.getBoundingClientRect().top - frame.getBoundingClientRect().top - top;
  }

  /** The person scrolled. */
  moved(): void {
    const { frame } = this;
    if (!frame) return;
    this.away.value = frame.scrollHeight - frame.scrollTop - frame.clientHeight >= NEAR;
    this.anchor = this.atEnd ? null : this.find(frame);
    if (frame.scrollTop < EARLY) this.early();
  }

  /** Something changed its size: restores the position of what was read. */
  settle(): void {
    const { frame, anchor } = this;
    if (!frame) return;
    if (this.atEnd) frame.scrollTop = frame.scrollHeight;
    else if (anchor?.entry.isConnected) {
      const by = anchor.entry.getBoundingClientRect().top - frame.getBoundingClientRect().top - anchor.top;
      if (Math.abs(by) >= 1) frame.scrollTop += by;
    }
    if (frame.scrollTop < EARLY) this.early();
  }

  /** The first visible entry, and where it is. */
  private find(frame: HTMLElement): { entry: Element; top: number } | null {
    const { top } = frame.getBoundingClientRect();
    const block = firstBelow(frame.getElementsByClassName("entries"), top + MARGIN);
    const entry = (block && firstBelow(block.children, top + MARGIN)) ?? block;
    return entry ? { entry, top: entry.getBoundingClientRect().top - top } : this.anchor;
  }
}

/** The first of these stacked elements that ends below this height. */
function firstBelow(elements: HTMLCollection, height: number): Element | undefined {
  let [from, to] = [0, elements.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((elements[middle] as Element).getBoundingClientRect().bottom > height) to = middle;
    else from = middle + 1;
  }
  return elements[from];
}

export function useReading(early: () => void, frame: { current: HTMLElement | null }): ReadingPlace {
  const reading = useMemo(() => new ReadingPlace(early), []);
  useEffect(() => {
    if (frame.current) reading.enter(frame.current);
    return () => reading.leave();
  }, []);
  return reading;
}
