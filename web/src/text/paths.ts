/** How paths are shown. Pure. */
import type { ToolTraits } from "../feed/model";
import { revealExactly } from "./reveal";

export function basename(path: string): string {
  return revealExactly(path.split("/").filter(Boolean).at(-1) ?? path);
}

/** A path relative to the session's directory. */
export function nearby(path: string, directory: string | null): string {
  return directory && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}

/** The file or directory that a tool's input names, if it names one. */
export function fileOf(traits: ToolTraits | null, input: Record<string, unknown>): string {
  const found = traits?.path ? input[traits.path] : undefined;
  return typeof found === "string" ? found : "";
}
