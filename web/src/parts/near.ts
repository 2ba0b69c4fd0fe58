/** Calls back once an element comes near the visible part of its scroller: the nearest first, and only as many as fit between two frames. */

interface Watch {
  root: Element;
  observer: IntersectionObserver;
  waiting: Map<Element, () => void>;
  /** Those that are near, and come next. */
  near: Set<Element>;
  drawing: boolean;
}

const NEAR = "1200px 0px";
/** Milliseconds of a frame that may be used, so that scrolling stays smooth. */
const SPEND = 6;
const watches = new WeakMap<Element, Watch>();

/** Returns a function that cancels it. */
export function whenNear(element: Element, act: () => void): () => void {
  const watch = watchOf(element.closest(".scrolls") ?? document.documentElement);
  watch.waiting.set(element, act);
  watch.observer.observe(element);
  return () => forget(watch, element);
}

function watchOf(root: Element): Watch {
  const found = watches.get(root);
  if (found) return found;
  const arrive = (entries: IntersectionObserverEntry[]) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) made.near.add(target);
      else made.near.delete(target);
    }
    void draw(made);
  };
  const observer = new IntersectionObserver(arrive, { root: root === document.documentElement ? null : root, rootMargin: NEAR });
  const made: Watch = { root, observer, waiting: new Map(), near: new Set(), drawing: false };
  watches.set(root, made);
  return made;
}

async function draw(watch: Watch): Promise<void> {
  if (watch.drawing) return;
  watch.drawing = true;
  while (watch.near.size) {
    const until = (await frame()) + SPEND;
    for (const element of inTurn(watch)) {
      const act = watch.waiting.get(element);
      forget(watch, element);
      act?.();
      // What was called back draws itself in the meantime.
      await Promise.resolve();
      if (performance.now() >= until) break;
    }
  }
  watch.drawing = false;
}

function frame(): Promise<number> {
  return new Promise((begin) => requestAnimationFrame(() => begin(performance.now())));
}

/** Visible ones before hidden ones, and the end before the start: that is where reading starts. */
function inTurn({ root, near }: Watch): Element[] {
  const box = root.getBoundingClientRect();
  const far = [...near].map((element): [Element, number] => {
    const { top, bottom } = element.getBoundingClientRect();
    return [element, Math.max(0, top - box.bottom, box.top - bottom) - bottom / 1e6];
  });
  return far.sort((a, b) => a[1] - b[1]).map(([element]) => element);
}

function forget(watch: Watch, element: Element): void {
  watch.waiting.delete(element);
  watch.near.delete(element);
  watch.observer.unobserve(element);
}
