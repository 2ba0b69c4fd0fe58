/** Which chunks of a diff are near the screen. Each chunk has a signal of its own, so that only those that change are drawn. */
import { type Signal, signal } from "@preact/signals";

const NEAR = "1200px 0px";

export class Nearness {
  private readonly near = new Map<number, Signal<boolean>>();
  private readonly places = new Map<Element, number>();
  private readonly heights = new Map<number, number>();
  private observer: IntersectionObserver | null = null;
  private width = 0;

  /** `soon`: how many chunks are drawn from the start. */
  constructor(private readonly soon: number) {}

  of(index: number): Signal<boolean> {
    let found = this.near.get(index);
    if (!found) this.near.set(index, (found = signal(index < this.soon)));
    return found;
  }

  /** The height that a chunk had when it was last drawn. */
  heightOf(index: number): number | undefined {
    return this.heights.get(index);
  }

  /** Returns a function that ends it. */
  watch(root: Element | null): () => void {
    const observer = new IntersectionObserver((entries) => this.arrive(entries), { root, rootMargin: NEAR });
    this.observer = observer;
    for (const element of this.places.keys()) observer.observe(element);
    return () => {
      observer.disconnect();
      this.observer = null;
    };
  }

  enter(element: Element, index: number): () => void {
    this.places.set(element, index);
    this.observer?.observe(element);
    return () => {
      this.places.delete(element);
      this.observer?.unobserve(element);
    };
  }

  private arrive(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const index = this.places.get(target);
      if (index === undefined) continue;
      const { width, height } = boundingClientRect;
      // At another width, lines break elsewhere.
      if (Math.abs(width - this.width) > 1) this.heights.clear();
      this.width = width;
      if (!target.hasAttribute("data-blank") && height > 0) this.heights.set(index, height);
      // What a person is writing in stays.
      if (isIntersecting) this.of(index).value = true;
      else if (!target.contains(document.activeElement)) this.of(index).value = false;
    }
  }
}
