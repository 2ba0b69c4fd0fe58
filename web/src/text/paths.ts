/** How paths are shown. Pure. */
import { reveal } from "./reveal";

export function basename(path: string): string {
  return reveal(path.split("/").filter(Boolean).at(-1) ?? path);
}

/** A path relative to the session's directory. */
export function nearby(path: string, directory: string | null): string {
  return directory && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}

/** The file that a tool's input names, if it names one. */
export function fileOf(input: Record<string, unknown>): string {
  const found = input["file_path"] ?? input["notebook_path"];
  return typeof found === "string" ? found : "";
}
