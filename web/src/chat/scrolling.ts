/** Where a conversation is read: at its end, which stays in view, or at an entry, which keeps its position. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { isScrolling } from "../hands/input";
import { isPressing, whenReleased } from "../hands/press";

/** Closer to the end than this counts as at the end. */
const NEAR = 80;
/** What ends within this many pixels is out of sight. */
const MARGIN = 4;
/** History is loaded when less than this is left above. */
const EARLY = 1600;

export class ReadingPlace {
  /** Whether the end is out of sight, as it is shown: that moves the page, so a press comes first. */
  readonly away = signal(false);
  private end = true;
  private frame: HTMLElement | null = null;
  /** The height of what is in the frame when its position was last known. */
  private tall = 0;
  private anchor: { entry: Element; top: number } | null = null;
  private watch: ResizeObserver | null = null;

  constructor(private readonly early: () => void) {}

  get atEnd(): boolean {
    return this.end;
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
    this.place(true);
    this.settle();
  }

  /** A link leads to another place: the end is left alone. */
  stay(): void {
    this.place(false);
  }

  /** Brings an entry into view, and keeps it there. */
  show(entry: HTMLElement): void {
    const { frame } = this;
    if (!frame) return;
    this.place(false);
    const top = frame.clientHeight / 4;
    this.anchor = { entry, top };
    frame.scrollTop += entry.getBoundingClientRect().top - frame.getBoundingClientRect().top - top;
  }

  /** It was scrolled: by the person, or by `settle`, of which the browser tells a frame later. */
  moved(): void {
    const { frame } = this;
    if (!frame) return;
    // It also grew, and `settle` comes next: who reads the end has not left it.
    if (this.end && heightIn(frame) !== this.tall && !isScrolling()) return;
    this.tall = heightIn(frame);
    this.place(frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR);
    this.anchor = this.atEnd ? null : this.find(frame);
    if (frame.scrollTop < EARLY) this.early();
  }

  /** Something changed its size: restores the position of what was read. */
  readonly settle = (): void => {
    const { frame, anchor } = this;
    if (!frame) return;
    if (this.end && isPressing()) return whenReleased(this.settle);
    this.tall = heightIn(frame);
    if (this.end) frame.scrollTop = frame.scrollHeight;
    else if (anchor?.entry.isConnected) {
      const by = anchor.entry.getBoundingClientRect().top - frame.getBoundingClientRect().top - anchor.top;
      if (Math.abs(by) >= 1) frame.scrollTop += by;
    }
    if (frame.scrollTop < EARLY) this.early();
  };

  private place(end: boolean): void {
    this.end = end;
    whenReleased(this.publish);
  }

  private readonly publish = (): void => {
    this.away.value = !this.end;
  };

  /** The first visible entry, and where it is. */
  private find(frame: HTMLElement): { entry: Element; top: number } | null {
    const { top } = frame.getBoundingClientRect();
    const block = firstBelow(frame.getElementsByClassName("entries"), top + MARGIN);
    const entry = (block && firstBelow(block.children, top + MARGIN)) ?? block;
    return entry ? { entry, top: entry.getBoundingClientRect().top - top } : this.anchor;
  }
}

/** Of what is in it; a change of this one is observed. */
function heightIn(frame: HTMLElement): number {
  return frame.firstElementChild?.clientHeight ?? 0;
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
