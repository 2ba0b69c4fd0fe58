/** What to know about a whole diff: said once, above it. Pure; the same as `present/diffs.py`, by the cases in `tests/present/diffs.json`. */
import type { DiffFacts } from "../feed/model";
import type { LineRow, Row } from "./rows";

type Ending = DiffFacts["old_ending"];
/** How the hub marks a carriage return. */
const MARKED = "⟨U+000D⟩";

/** Of a diff that was made here, from texts as they are. */
export function factsOf(rows: readonly Row[]): DiffFacts {
  const [old, fresh] = [newSide(), newSide()];
  let [added, gone] = [0, 0];
  let last: Row | undefined;
  for (const row of rows) {
    if (row.kind === "added") added += 1;
    if (row.kind === "gone") gone += 1;
    if (row.kind === "gone" || row.kind === "same") count(old, row.text);
    if (row.kind === "added" || row.kind === "same") count(fresh, row.text);
    if (row.kind === "end" && last && "text" in last) {
      if (last.kind === "gone" || last.kind === "same") leaveOpen(old, last.text);
      if (last.kind === "added" || last.kind === "same") leaveOpen(fresh, last.text);
    }
    last = row;
  }
  return { lines: rows.length, added, gone, old_ending: endingOf(old), new_ending: endingOf(fresh), old_open: old.open, new_open: fresh.open };
}

interface Side {
  lines: number;
  carried: number;
  open: boolean;
  /** Its last line ends with a carriage return, and no newline. */
  strange: boolean;
}

const newSide = (): Side => ({ lines: 0, carried: 0, open: false, strange: false });

function count(side: Side, text: string): void {
  side.lines += 1;
  if (text.endsWith("\r")) side.carried += 1;
}

/** A last line without a newline has no ending; a carriage return there is a character like any other. */
function leaveOpen(side: Side, text: string): void {
  side.open = true;
  side.strange = text.endsWith("\r");
}

function endingOf({ lines: all, carried, open, strange }: Side): Ending {
  if (!all) return "";
  if (strange) return "mixed";
  const lines = open ? all - 1 : all;
  return carried === 0 ? "lf" : carried === lines ? "crlf" : "mixed";
}

/** A line's text without the line ending that is said above. Only if the facts say so: a file may contain such marks itself. */
export function withoutEnding(row: LineRow, facts: DiffFacts): string {
  const sides = row.kind === "gone" ? [facts.old_ending] : row.kind === "added" ? [facts.new_ending] : [facts.old_ending, facts.new_ending];
  if (!sides.every((each) => each === "crlf")) return row.text;
  if (row.text.endsWith("\r")) return row.text.slice(0, -1);
  return row.text.endsWith(MARKED) ? row.text.slice(0, -MARKED.length) : row.text;
}

export type Remark = "crlf" | "to_lf" | "to_crlf" | "mixed" | "open" | "opened" | "closed";

/** What to say above the diff. */
export function remarksOf({ old_ending, new_ending, old_open, new_open }: DiffFacts): Remark[] {
  const remarks: Remark[] = [];
  if (old_ending === "mixed" || new_ending === "mixed") remarks.push("mixed");
  else if (old_ending === "crlf" && new_ending === "lf") remarks.push("to_lf");
  else if (old_ending === "lf" && new_ending === "crlf") remarks.push("to_crlf");
  else if (old_ending === "crlf" || new_ending === "crlf") remarks.push("crlf");
  if (old_open && !new_open && new_ending) remarks.push("closed");
  else if (new_open && !old_open && old_ending) remarks.push("opened");
  else if (new_open || old_open) remarks.push("open");
  return remarks;
}
