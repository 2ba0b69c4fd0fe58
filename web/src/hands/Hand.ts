/** One card in front of a person: what was seen, since when it stands still, and whether an act on it was meant. */
import { signal } from "@preact/signals";
import * as intent from "../intent";
import type { Act, Attention, Verdict, Weight } from "../intent";
import { gaps, NOTHING_YET, resize, show, type Cover } from "./cover";
import { isScrolling, noteScroll, occasion, touchedAt } from "./input";
import { isText, sampleSoon } from "./all";
import { compare, type Shape } from "./shape";

/** Milliseconds for which a card says why it did nothing. */
const REFUSAL_MS = 2500;
/** A fold with more lines than this is shown, but not opened, by the first press. */
const UNFOLDS = 400;
const LINE = 20;

export interface Refusal {
  control: string;
  verdict: Exclude<Verdict, "meant">;
}

interface Held {
  act: Act;
  control: string;
  perform: () => void;
  timer: ReturnType<typeof setTimeout>;
}

export class Hand {
  /** Why the last act did nothing, for a moment. */
  readonly refusal = signal<Refusal | null>(null);
  /** The control that was pressed although not everything was seen: a second press continues without the rest. */
  readonly warned = signal<string | null>(null);
  /** The control whose letter was pressed, while that could still become a word. */
  readonly pressed = signal<string | null>(null);
  /** Lines that were never on the screen, and where the first of them is. */
  readonly unread = signal(0);
  readonly unreadAbove = signal(false);

  root: HTMLElement = document.body;
  private card: Attention = intent.attend("page", performance.now(), touchedAt());
  private shape: Shape | null = null;
  private covers = new Map<Element, Cover>();
  private held: Held | null = null;
  private calm: ReturnType<typeof setTimeout> | undefined;
  private fading: ReturnType<typeof setTimeout> | undefined;
  /** Since when letters go to this card. */
  private keysSince = 0;
  /** Its controls have moved, since the person opened another step. */
  private turned = false;
  /** When a key brought it into view. */
  private broughtAt = -Infinity;

  private ready: () => void = () => undefined;

  constructor(readonly id: string) {}

  /** It is on the page. `ready` is called when everything was seen and it stood still for a while. */
  appear(root: HTMLElement, ready: () => void): void {
    this.root = root;
    this.ready = ready;
    this.set(intent.attend("page", performance.now(), touchedAt()));
  }

  leave(): void {
    clearTimeout(this.calm);
    clearTimeout(this.fading);
    this.drop();
  }

  /** The person typed or clicked, and not to act on this card. */
  touch(at: number): void {
    this.set(intent.touch(this.card, Math.max(at, this.card.quietSince)));
  }

  /** It appeared or moved by itself. */
  move(at: number): void {
    this.set(intent.move(this.card, at));
  }

  /** Another step of the same card: other controls, but it shows the same. */
  step(): void {
    this.warned.value = null;
    this.set(intent.change(this.card, performance.now()));
    this.shape = null;
    sampleSoon();
  }

  /** The person opened its next step, and looks there. */
  turn(): void {
    this.set(intent.turn(this.card, performance.now()));
    this.turned = true;
    sampleSoon();
  }

  /** It shows something else. */
  change(): void {
    this.covers.clear();
    this.step();
  }

  /** Letters go to this card from now on. */
  takeKeys(at: number): void {
    this.keysSince = at;
  }

  /** Checks its position and what is on the screen. Called after something was painted, and before each act. */
  sample(): void {
    const shape = this.measure();
    const change = this.turned ? "still" : this.shape === null ? "moved" : compare(this.shape, shape, isScrolling());
    this.shape = shape;
    this.turned = false;
    if (change === "moved") this.move(performance.now());
    else if (change === "scrolled") this.set(intent.scroll(this.card, performance.now()));
    this.look();
  }

  /** Performs it if it was meant for this card: immediately, or a moment later if a letter could still become a word. */
  act(control: string, weight: Weight, perform: () => void): void {
    const { at, repeated, letter } = occasion();
    const act: Act = { weight, at, repeated, letter };
    this.sample();
    this.drop();
    // A person writing in this very card may send it from there, wherever the button is.
    const writes = isText(document.activeElement) && this.root.contains(document.activeElement);
    if (weight !== "refuse" && !writes && !this.isInView(control)) return this.bring(control);
    let verdict = this.judge(act);
    if (verdict === "unseen" && this.warned.peek() === control) {
      this.set(intent.goOn(this.card));
      verdict = this.judge(act);
    }
    if (verdict !== "meant") return this.refuse(control, verdict);
    const wait = intent.dueAt(act) - performance.now();
    if (wait <= 0) return perform();
    this.pressed.value = control;
    this.held = { act, control, perform, timer: setTimeout(() => this.carryOut(), wait + 1) };
  }

  /** Whether a key may act here. A key pressed while the card is out of sight only brings it into view. */
  takesKey(key: string): boolean {
    if (performance.now() - this.broughtAt < intent.CALM.page) return false;
    if (this.isInView(key)) return true;
    this.bring(key);
    return false;
  }

  /** Scrolls to what was not seen yet. */
  toUnread(): void {
    const part = this.parts().find((each) => restOf(each) || gaps(this.covers.get(each) ?? NOTHING_YET).length);
    const frame = this.frame();
    if (!part || !frame) return;
    const [gap] = gaps(this.covers.get(part) ?? NOTHING_YET);
    const { top, bottom } = this.visible();
    const box = part.getBoundingClientRect();
    noteScroll(performance.now());
    const head = part.closest(".diff")?.querySelector(".diff-head")?.clientHeight ?? 0;
    frame.scrollBy({ top: gap ? box.top + gap[0] - top - head - LINE : box.bottom - bottom + 2 * LINE });
  }

  private carryOut(): void {
    const { held } = this;
    if (!held) return;
    // Letters that were typed but not yet handled come first.
    const pending = (navigator as { scheduling?: { isInputPending?: () => boolean } }).scheduling?.isInputPending?.();
    if (pending) {
      held.timer = setTimeout(() => this.carryOut(), 5);
      return;
    }
    this.sample();
    const verdict = this.judge(held.act);
    this.drop();
    if (verdict === "meant") held.perform();
    else this.refuse(held.control, verdict);
  }

  private judge(act: Act): Verdict {
    const card = act.letter && this.keysSince > this.card.stillSince ? intent.move(this.card, this.keysSince) : this.card;
    return intent.judge(card, act);
  }

  private drop(): void {
    if (this.held) clearTimeout(this.held.timer);
    this.held = null;
    this.pressed.value = null;
  }

  private refuse(control: string, verdict: Exclude<Verdict, "meant">): void {
    if (verdict === "unseen") {
      this.warned.value = control;
      for (const part of this.parts()) if (restOf(part) && restOf(part) <= UNFOLDS) part.querySelector<HTMLElement>("button.more")?.click();
      this.toUnread();
      this.move(performance.now());
    } else if (verdict !== "repeated") this.touch(performance.now());
    this.say({ control, verdict });
  }

  private say(refusal: Refusal): void {
    this.refusal.value = refusal;
    clearTimeout(this.fading);
    this.fading = setTimeout(() => (this.refusal.value = null), REFUSAL_MS);
  }

  private bring(control: string): void {
    this.root.scrollIntoView({ block: "nearest" });
    if (!this.isInView(control)) this.controlOf(control).scrollIntoView({ block: "nearest" });
    this.broughtAt = performance.now();
    this.shape = null;
    this.move(this.broughtAt);
    this.say({ control, verdict: "moved" });
  }

  private controlOf(name: string): Element {
    return this.root.querySelector(`[data-control="${CSS.escape(name)}"]`) ?? this.root.querySelector(".controls") ?? this.root;
  }

  private isInView(control: string): boolean {
    const frame = this.frame()?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
    const box = this.controlOf(control).getBoundingClientRect();
    return box.height > 0 && box.top >= frame.top - 2 && box.top + Math.min(box.height, 40) <= frame.bottom + 2;
  }

  private set(card: Attention): void {
    this.card = card;
    this.show();
  }

  /** The element shows whether it accepts an act, so that this is visible from outside. */
  private show(): void {
    clearTimeout(this.calm);
    const wait = intent.calmAt(this.card) - performance.now();
    this.root.toggleAttribute("data-armed", wait <= 0);
    this.root.toggleAttribute("data-seen", this.card.seen);
    if (wait > 0) this.calm = setTimeout(() => this.show(), wait + 1);
    else if (this.card.seen && !document.hidden) this.ready();
  }

  private frame(): Element | null {
    return this.root.closest(".scrolls");
  }

  private parts(): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>("[data-evidence]")];
  }

  private measure(): Shape {
    const controls = [...this.root.querySelectorAll("[data-own] :is(button:not(.unread), .row)")].flatMap((each) => {
      const { left, top, right, bottom } = each.getBoundingClientRect();
      return [left, top, right, bottom];
    });
    const frame = this.frame();
    const [box, around] = [this.root.getBoundingClientRect(), frame?.getBoundingClientRect()];
    return {
      controls,
      layout: [box.height, box.width, box.top + (frame?.scrollTop ?? 0), around?.top ?? 0, around?.height ?? innerHeight, frame?.scrollHeight ?? 0],
    };
  }

  /** The part of the screen where evidence can be read: its own controls may cover it. */
  private visible(): { top: number; bottom: number } {
    const frame = this.frame()?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
    const bar = this.root.querySelector(".controls")?.getBoundingClientRect();
    const lens = window.visualViewport;
    const [above, below] = lens ? [lens.offsetTop, lens.offsetTop + lens.height] : [0, innerHeight];
    return { top: Math.max(frame.top, above), bottom: Math.min(frame.bottom, below, bar && bar.height > 0 ? bar.top : Infinity) };
  }

  /** Counts what is on the screen as seen. */
  private look(): void {
    if (document.hidden || document.querySelector("dialog[open]")) return;
    const { top, bottom } = this.visible();
    let unread = 0;
    let above: boolean | null = null;
    const covers = new Map<Element, Cover>();
    for (const part of this.parts()) {
      const box = part.getBoundingClientRect();
      if (box.height === 0) continue;
      const before = resize(this.covers.get(part) ?? NOTHING_YET, Math.round(box.width), box.height);
      const [from, to] = [Math.max(box.top, top, headOver(part, box)), Math.min(box.bottom, bottom)];
      // A blank box shows nothing yet.
      const seen = to > from && part.dataset["blank"] === undefined && !this.isCovered(box, (from + to) / 2);
      const cover = seen ? show(before, from - box.top, to - box.top) : before;
      covers.set(part, cover);
      const open = gaps(cover);
      if (open[0] && above === null) above = box.top + open[0][0] < top;
      unread += linesIn(part, cover, open) + restOf(part);
    }
    this.covers = covers;
    this.unread.value = unread;
    this.unreadAbove.value = above ?? false;
    if (unread === 0 && covers.size > 0 && !this.card.seen) {
      this.warned.value = null;
      this.set(intent.see(this.card));
    } else if (unread > 0 && this.card.seen) this.set({ ...this.card, seen: false });
  }

  /** Whether something else covers it, such as the drawer. */
  private isCovered(box: DOMRect, height: number): boolean {
    return [box.left + 4, box.right - 4].some((x) => {
      const found = document.elementFromPoint(x, height);
      return found !== null && !this.root.contains(found);
    });
  }
}

/** Lines that are folded in it. */
function restOf(part: HTMLElement): number {
  return Number(part.dataset["rest"] ?? 0);
}

/** How many lines these ranges have. A chunk of a diff says itself how many it has. */
function linesIn(part: HTMLElement, cover: Cover, open: readonly (readonly [number, number])[]): number {
  if (!open.length) return 0;
  const lines = Number(part.dataset["lines"] ?? 0);
  if (lines) return Math.ceil((lines * open.reduce((sum, [a, b]) => sum + b - a, 0)) / cover.height);
  const line = parseFloat(getComputedStyle(part).lineHeight) || LINE;
  return open.reduce((sum, [a, b]) => sum + Math.ceil((b - a) / line), 0);
}

/** The head of a diff sticks to the top of the page, over the first lines: where it ends, if it is over this part. */
function headOver(part: HTMLElement, box: DOMRect): number {
  if (box.bottom < 0 || box.top > innerHeight) return -Infinity;
  const head = part.classList.contains("diff-chunk") ? part.closest(".diff")?.querySelector(".diff-head")?.getBoundingClientRect() : undefined;
  return head && head.bottom > box.top && head.top <= box.bottom ? head.bottom : -Infinity;
}
