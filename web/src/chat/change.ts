/** What an action changed in a file, from the tool's input. Pure. */
import type { ToolTraits } from "../feed/model";
import type { Row } from "../diff/rows";
import { compareTexts } from "../text/diff";

/** The rows of the change, or null where the tool changes no file that we know of. */
export function changeOf({ change, editable }: ToolTraits, input: Record<string, unknown>): Row[] | null {
  const text = input[editable];
  switch (change) {
    case "whole":
    case "cell":
      return typeof text === "string" ? compareTexts("", text, change === "whole") : null;
    case "replacement":
      return edit(input);
    case "replacements":
      return several(input["edits"]);
    default:
      return null;
  }
}

function edit(input: Record<string, unknown>): Row[] | null {
  const [before, after] = [input["old_string"], input["new_string"]];
  return typeof before === "string" && typeof after === "string" ? compareTexts(before, after) : null;
}

function several(edits: unknown): Row[] | null {
  if (!Array.isArray(edits)) return null;
  const made = edits.map((each) => (typeof each === "object" && each !== null ? edit(each as Record<string, unknown>) : null));
  if (made.some((rows) => rows === null)) return null;
  return made.flatMap((rows, at) => [...(at ? [{ kind: "hunk", text: "…" } as const] : []), ...(rows ?? [])]);
}
