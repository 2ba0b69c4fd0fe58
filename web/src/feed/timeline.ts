/** A session's items as a person reads them: entries, in order, in blocks that are drawn on their own. Pure. */
import type { Item, ItemOf, ToolTraits } from "./model";

interface Placed {
  readonly key: number;
  readonly at: string;
}

/** Claude Code denied the action without asking; `change` is what became of that last. */
export interface Denial {
  readonly item: ItemOf<"action.denied">;
  readonly change: ItemOf<"denial.changed"> | null;
}

export interface ActionEntry extends Placed {
  readonly kind: "action";
  readonly started: ItemOf<"action.started">;
  readonly traits: ToolTraits;
  readonly ended: ItemOf<"action.ended"> | null;
  /** Who edited the input; then `started` has what really runs. */
  readonly editor: string | null;
  /** The ask that stands for this action. */
  readonly ask: string | null;
  readonly denial: Denial | null;
  /** Claude Code's automatic check takes long. */
  readonly checking: boolean;
  readonly inside: readonly TimelineEntry[];
}

export type TimelineEntry =
  | ActionEntry
  | (Placed & { readonly kind: "said"; readonly item: ItemOf<"said"> })
  | (Placed & { readonly kind: "text"; readonly item: ItemOf<"text"> })
  | (Placed & { readonly kind: "thinking"; readonly item: ItemOf<"thinking"> })
  | (Placed & { readonly kind: "ask"; readonly ask: string /** Whether the action that it is about is shown, too. */; readonly joins: boolean })
  | (Placed & { readonly kind: "turn"; readonly item: ItemOf<"turn.ended"> })
  | (Placed & { readonly kind: "notice"; readonly item: ItemOf<"notice"> })
  | (Placed & { readonly kind: "undone"; readonly item: ItemOf<"instruction.settled">; readonly given: ItemOf<"instruction.given"> })
  | (Placed & { readonly kind: "begun"; readonly item: ItemOf<"session.started"> })
  | (Placed & { readonly kind: "ended"; readonly item: ItemOf<"session.ended"> })
  | (Placed & { readonly kind: "mode"; readonly mode: string })
  | (Placed & { readonly kind: "orphan"; readonly item: ItemOf<"action.ended"> })
  | (Placed & { readonly kind: "frame"; readonly item: ItemOf<"frame"> });

/** Few enough to be drawn between two frames. A run of reads, which is one line, is not split. */
const [BLOCK, RUN] = [6, 100];
/** Of a tool that nothing is known of, as in an item that the hub could not read. */
const NO_TRAITS: ToolTraits = { kind: "other", verb: "", subject: [], path: "", editable: "", change: "", only_reads: false };

/** An action that only reads. */
export function isRead(entry: TimelineEntry | undefined): entry is ActionEntry {
  return entry?.kind === "action" && entry.traits.only_reads;
}

/** A retry to reach the model. */
export function isRetry(entry: TimelineEntry | undefined): boolean {
  return entry?.kind === "notice" && entry.item.about === "retry";
}

/** Whether they may be drawn as one: reads, retries, and an error with the text that reports it. */
function isOne(before: TimelineEntry | undefined, entry: TimelineEntry): boolean {
  return (isRead(before) && isRead(entry)) || (isRetry(before) && isRetry(entry)) || (before?.kind === "text" && entry.kind === "turn");
}

/** Built item by item. `blocks` hold entries; a block or entry that did not change keeps its identity. */
export class Timeline {
  blocks: TimelineEntry[][] = [];
  /** Messages that Claude has not received yet. */
  waiting: ItemOf<"said">[] = [];
  private readonly place = new Map<string, number>();
  private readonly parents = new Map<string, string>();
  private readonly messages = new Map<string, ItemOf<"said">>();
  private readonly given = new Map<string, ItemOf<"instruction.given">>();
  private readonly begins: ReadonlySet<number>;
  private mode: string | null = null;
  private size = 0;
  /** Until the blocks are shown, they are changed in place. */
  private unseen = true;

  /** `drawn` is what the last of these items became: it stays when history is inserted before it. */
  constructor(items: Iterable<Item> = [], drawn?: Timeline) {
    this.begins = new Set(drawn?.blocks.map((block) => block[0]?.key ?? 0));
    for (const item of items) this.add(item);
    this.unseen = false;
    if (drawn) this.blocks = reuse(drawn.blocks, this.blocks);
  }

  /** The number of entries at the top level. */
  get length(): number {
    return this.size;
  }

  add(item: Item): void {
    const placed = { key: item.cursor, at: item.at };
    switch (item.type) {
      case "said":
        this.messages.set(item.say, item);
        this.waiting = [...this.waiting, item];
        return;
      case "said.taken":
        return this.take(item);
      case "turn.started":
        return this.takeCommand(item);
      case "text":
        return this.put({ ...placed, kind: "text", item }, item.parent);
      case "thinking":
        return this.put({ ...placed, kind: "thinking", item }, item.parent);
      case "action.started":
        if (item.parent !== null) this.parents.set(item.action, item.parent);
        return this.put({ ...placed, kind: "action", started: item, traits: item.traits ?? NO_TRAITS, ended: null, editor: null, ask: null, denial: null, checking: false, inside: [] }, item.parent);
      case "action.changed":
      case "action.checked":
      case "action.denied":
      case "denial.changed":
        this.change(item.action, (entry) => after(entry, item));
        return;
      case "action.ended":
        return this.end(item);
      case "ask.opened":
        return this.put({ ...placed, kind: "ask", ask: item.ask.id, joins: this.claim(item) }, null);
      case "turn.ended":
        return this.put({ ...placed, kind: "turn", item }, null);
      case "notice":
        return this.put({ ...placed, kind: "notice", item }, null);
      case "session.started":
        this.mode = item.mode;
        return this.put({ ...placed, kind: "begun", item }, null);
      case "session.changed": {
        const before = this.mode;
        this.mode = item.mode;
        if (before !== null && before !== item.mode) this.put({ ...placed, kind: "mode", mode: item.mode }, null);
        return;
      }
      case "session.ended":
        return this.put({ ...placed, kind: "ended", item }, null);
      case "frame":
        return this.put({ ...placed, kind: "frame", item }, null);
      default:
        return this.addElsewhere(item);
    }
  }

  /** What was asked of a session on another machine, and what was taken back. */
  private addElsewhere(item: Item): void {
    if (item.type === "said.withdrawn") this.waiting = this.waiting.filter((each) => each.say !== item.say);
    else if (item.type === "instruction.given") this.given.set(item.instruction, item);
    else if (item.type === "instruction.settled") {
      const given = this.given.get(item.instruction);
      if (given && item.state === "refused") this.put({ key: item.cursor, at: item.at, kind: "undone", item, given }, null);
    }
  }

  /** Claude Code runs its own commands before it says that it has them: what it replies belongs below. */
  private takeCommand(item: ItemOf<"turn.started">): void {
    const [first] = this.waiting;
    if (first?.text.startsWith("/")) this.show(first, item);
  }

  private take(receipt: ItemOf<"said.taken">): void {
    const message = this.messages.get(receipt.say);
    if (message && this.waiting.includes(message)) this.show(message, receipt);
  }

  private show(message: ItemOf<"said">, { cursor, at }: Item): void {
    this.waiting = this.waiting.filter((each) => each !== message);
    this.put({ key: cursor, at, kind: "said", item: message }, null);
  }

  private end(item: ItemOf<"action.ended">): void {
    const found = this.change(item.action, (entry) => ({ ...entry, ended: item, checking: false }));
    if (!found) this.put({ key: item.cursor, at: item.at, kind: "orphan", item }, null);
  }

  /** An ask stands for the action that it is about. */
  private claim({ ask }: ItemOf<"ask.opened">): boolean {
    return ask.tool_use !== null && this.change(ask.tool_use, (entry) => ({ ...entry, ask: ask.id }));
  }

  private put(entry: TimelineEntry, parent: string | null): void {
    if (parent !== null && this.change(parent, (above) => ({ ...above, inside: [...above.inside, entry] }))) return;
    const last = this.blocks.at(-1);
    const most = isOne(last?.at(-1), entry) ? RUN : BLOCK;
    const fits = last && last.length < most && !this.begins.has(entry.key);
    if (this.unseen) {
      if (fits) last.push(entry);
      else this.blocks.push([entry]);
    } else this.blocks = fits ? [...this.blocks.slice(0, -1), [...last, entry]] : [...this.blocks, [entry]];
    this.size += 1;
    if (entry.kind === "action") this.place.set(entry.started.action, this.blocks.length - 1);
  }

  /** Replaces an action with another entry, wherever it is nested. */
  private change(action: string, how: (entry: ActionEntry) => ActionEntry): boolean {
    const path = [action];
    while (!this.place.has(path[0] as string)) {
      const above = this.parents.get(path[0] as string);
      if (above === undefined || path.includes(above)) return false;
      path.unshift(above);
    }
    const at = this.place.get(path[0] as string) as number;
    const changed = changeIn(this.blocks[at] as TimelineEntry[], path, how);
    if (!changed) return false;
    if (this.unseen) this.blocks[at] = changed;
    else this.blocks = this.blocks.map((block, index) => (index === at ? changed : block));
    return true;
  }
}

/** An action after something became of it. */
function after(entry: ActionEntry, item: ItemOf<"action.changed" | "action.checked" | "action.denied" | "denial.changed">): ActionEntry {
  switch (item.type) {
    case "action.changed":
      return { ...entry, started: { ...entry.started, title: item.title, input: item.input }, editor: item.by.name };
    case "action.checked":
      return { ...entry, checking: item.checking };
    case "action.denied":
      return { ...entry, checking: false, denial: { item, change: null } };
    case "denial.changed":
      return entry.denial ? { ...entry, denial: { ...entry.denial, change: item } } : entry;
  }
}

/** The new blocks, reusing drawn blocks and entries that are equal. */
function reuse(drawn: readonly TimelineEntry[][], fresh: readonly TimelineEntry[][]): TimelineEntry[][] {
  const entries = new Map(drawn.flat().map((entry) => [entry.key, entry]));
  const blocks = new Map(drawn.map((block) => [block[0]?.key, block]));
  return fresh.map((block) => {
    const same = block.map((entry) => {
      const before = entries.get(entry.key);
      return before && isSame(before, entry) ? before : entry;
    });
    const before = blocks.get(same[0]?.key);
    return before?.length === same.length && before.every((entry, at) => entry === same[at]) ? before : same;
  });
}

function isSame(a: TimelineEntry, b: TimelineEntry): boolean {
  if (a.kind === "action" && b.kind === "action")
    return isSameAction(a, b) && a.ended === b.ended && a.ask === b.ask && a.inside.length === b.inside.length && a.inside.every((each, at) => isSame(each, b.inside[at] as TimelineEntry));
  if (a.kind === "ask" && b.kind === "ask") return a.ask === b.ask && a.joins === b.joins;
  if (a.kind === "mode" && b.kind === "mode") return a.mode === b.mode;
  return a.kind === b.kind && "item" in a && "item" in b && a.item === b.item;
}

/** What runs is the same; an edited one is rebuilt each time. */
function isSameAction(a: ActionEntry, b: ActionEntry): boolean {
  if (a.checking !== b.checking || a.denial?.item !== b.denial?.item || a.denial?.change !== b.denial?.change) return false;
  return a.started === b.started || (a.editor !== null && a.editor === b.editor && a.started.cursor === b.started.cursor && a.started.input === b.started.input);
}

function changeIn(entries: readonly TimelineEntry[], path: string[], how: (entry: ActionEntry) => ActionEntry): TimelineEntry[] | null {
  const at = entries.findIndex((entry) => entry.kind === "action" && entry.started.action === path[0]);
  const entry = entries[at];
  if (entry?.kind !== "action") return null;
  let changed: ActionEntry;
  if (path.length === 1) changed = how(entry);
  else {
    const inside = changeIn(entry.inside, path.slice(1), how);
    if (!inside) return null;
    changed = { ...entry, inside };
  }
  return entries.map((each, index) => (index === at ? changed : each));
}
