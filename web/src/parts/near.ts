/** Calls back once something comes near what is seen of its scroller: what nobody sees is not worth the work. */

interface Watch {
  observer: IntersectionObserver;
  waiting: Map<Element, () => void>;
}

const NEAR = "1200px 0px";
const watches = new WeakMap<Element, Watch>();

/** Returns a way to call it off. */
export function whenNear(element: Element, act: () => void): () => void {
  const { observer, waiting } = watchOf(element.closest(".scrolls") ?? document.documentElement);
  waiting.set(element, act);
  observer.observe(element);
  return () => {
    waiting.delete(element);
    observer.unobserve(element);
  };
}

function watchOf(root: Element): Watch {
  const found = watches.get(root);
  if (found) return found;
  const waiting = new Map<Element, () => void>();
  const arrive = (entries: IntersectionObserverEntry[]) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      const act = waiting.get(entry.target);
      waiting.delete(entry.target);
      observer.unobserve(entry.target);
      act?.();
    }
  };
  const observer = new IntersectionObserver(arrive, { root: root === document.documentElement ? null : root, rootMargin: NEAR });
  const made = { observer, waiting };
  watches.set(root, made);
  return made;
}
