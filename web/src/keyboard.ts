/** The keyboard: what each key does, on every page. Never takes a key from a text field. */
import { signal } from "@preact/signals";
import { press } from "./cards/keys";
import { isText, touchCurrent } from "./hands/all";
import { isTouch } from "./hands/input";
import { isTyping } from "./intent";
import { openSearch, typeAhead } from "./search/searching";
import { chosen, current, go, pathOf, place, reachable } from "./store/place";
import { may, openBySession, sessions } from "./store/desk";
import { post } from "./store/http";
import { awayOf } from "./store/machines";
import { starting } from "./sessions/starting";
import { listed } from "./sessions/SessionsList";
import { isOurs } from "./sessions/state";

export const showKeys = signal(false);

let afterG = 0;
/** When a text field last received a key; 0 once it was left. */
let wrote = 0;
/** Keys that leave a text on purpose. */
const LEAVING = ["Escape", "Enter", "Tab"];
const PAUSE = 1000;

/** When a letter was last typed outside a text field that isn't for navigation. */
let letterAt: number | null = null;
/** Letters for navigation and reading on. */
const MOVING = ["j", "k", "J", "K", "v"];

export function watchKeyboard(): void {
  addEventListener("pointerdown", () => (wrote = 0), true);
  addEventListener("keydown", (event) => {
    if (typeAhead(event)) {
      letterAt = event.timeStamp;
      event.preventDefault();
      return;
    }
    const typing = isTyping(letterAt, event.timeStamp);
    if (/^\p{L}$/u.test(event.key) && !MOVING.includes(event.key) && !isText(event.target)) letterAt = event.timeStamp;
    const handled = isHeard(event) && !(typing && isPartOfWord(event.key)) && take(event.key, event);
    if (handled) event.preventDefault();
    if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) leaveField(event.target);
    if (handled !== "card" && isTouch(event) && !isText(event.target) && !isOwn(event)) touchCurrent(event.timeStamp);
  });
}

/** Escape leaves every field, so that keys mean the page again. In a dialog, the browser closes the dialog. */
function leaveField(target: EventTarget | null): void {
  if (isText(target) && target instanceof HTMLElement && !target.closest("dialog")) target.blur();
}

/** Words typed outside a field do nothing, except that `d` still opens the reason. */
function isPartOfWord(key: string): boolean {
  return /^\p{L}$/u.test(key) && key !== "d" && !MOVING.includes(key) && Date.now() - afterG >= 1000;
}

/** Enter or the space bar on a control of a card: the card receives it as a click. */
function isOwn(event: KeyboardEvent): boolean {
  return (event.key === "Enter" || event.key === " ") && event.target instanceof Element && event.target.closest("[data-own]") !== null;
}

function isHeard(event: KeyboardEvent): boolean {
  if (isWritingOn(event)) return false;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return false;
  if (document.querySelector("dialog[open]")) return false;
  // A held key must not answer one card after the other.
  return !event.repeat || MOVING.includes(event.key);
}

/** A card may be settled elsewhere while a person writes into it: the rest of their words must not answer another card. */
function isWritingOn(event: KeyboardEvent): boolean {
  const now = Date.now();
  if (isText(event.target)) wrote = LEAVING.includes(event.key) ? 0 : now;
  else if (now - wrote < PAUSE) {
    wrote = now;
    return true;
  }
  return false;
}

/** What handled it: the current card, the page, or nothing. */
function take(key: string, event: KeyboardEvent): boolean | "card" {
  if (Date.now() - afterG < 1000 && (key === "i" || key === "s")) {
    afterG = 0;
    go(key === "i" ? "/" : "/sessions");
    return true;
  }
  // Enter and the space bar belong to an element that handles them by itself.
  if ((key === "Enter" || key === " ") && isOperable(event.target)) return false;
  switch (key) {
    case "j":
      return move(1) || step(1);
    case "k":
      return move(-1) || step(-1);
    case "J":
      return step(1);
    case "K":
      return step(-1);
    case "u":
      return toNeedy();
    case "f":
      openSearch();
      return true;
    case "g":
      afterG = Date.now();
      return true;
    case "?":
      showKeys.value = true;
      return true;
    case "/":
      return focus("search");
    case "c":
      return focus("say");
    case "n":
      if (may("admin")) starting.value = true;
      return true;
    case "i":
      return interrupt();
    default:
      return press(key) && "card";
  }
}

function move(by: number): boolean {
  const list = reachable.value;
  const at = current.value === null ? -1 : list.indexOf(current.value);
  const next = list[at + by];
  if (next === undefined) return list.length > 0;
  chosen.value = next;
  requestAnimationFrame(() => document.getElementById(`card-${next}`)?.scrollIntoView({ block: "nearest" }));
  return true;
}

/** The next or previous session of the list. */
function step(by: number): boolean {
  const list = listed.value;
  const here = place.value;
  const at = here.view === "session" ? list.findIndex((session) => session.id === here.id) : -1;
  const next = at < 0 ? list[by > 0 ? 0 : list.length - 1] : list[at + by];
  if (next) open(next.id);
  return list.length > 0;
}

/** The next session that waits for a person, from the current one on and around. */
function toNeedy(): boolean {
  const list = listed.value;
  const here = place.value;
  const at = here.view === "session" ? list.findIndex((session) => session.id === here.id) : -1;
  const next = [...list.slice(at + 1), ...list.slice(0, at + 1)].find((session) => openBySession.value.has(session.id) || session.dialog);
  if (next) open(next.id);
  return true;
}

function open(session: string): void {
  go(pathOf({ view: "session", id: session }));
  requestAnimationFrame(() => document.querySelector(".session[aria-current]")?.scrollIntoView({ block: "nearest" }));
}

function interrupt(): boolean {
  const here = place.value;
  if (here.view !== "session" || !may("approver")) return false;
  const session = sessions.peek().get(here.id);
  if (session?.phase !== "working" || !isOurs(session) || awayOf(session)) return false;
  void post(`/api/sessions/${encodeURIComponent(here.id)}/interrupt`).catch(() => undefined);
  return true;
}

function focus(id: string): boolean {
  const element = document.getElementById(id);
  element?.focus();
  return element !== null;
}

function isOperable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, a, summary, input") !== null && !(target instanceof HTMLInputElement && target.type === "radio");
}
