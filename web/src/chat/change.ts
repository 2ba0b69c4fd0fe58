/** What an action changed in a file, from the tool's input. Pure. */
import { compareTexts, type Row } from "../text/diff";

/** The rows of the change, or null if the tool changes no file that we know of. */
export function changeOf(tool: string, input: Record<string, unknown>): Row[] | null {
  switch (tool) {
    case "Write":
      return typeof input["content"] === "string" ? compareTexts("", input["content"]) : null;
    case "Edit":
      return edit(input);
    case "MultiEdit":
      return several(input["edits"]);
    case "NotebookEdit":
      return typeof input["new_source"] === "string" ? compareTexts("", input["new_source"]) : null;
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
