/** What is being completed in a message: a command at its start, or a file anywhere. Pure. */
import type { SlashCommand } from "../generated/api";

export interface Completing {
  kind: "command" | "file";
  /** What was typed after `/` or `@`. */
  typed: string;
  /** Where it is in the text, with its sign. */
  from: number;
  to: number;
}

const COMMAND = /^\/(\S*)$/;
const FILE = /(?:^|[\s([{])@(?:"([^"\n]*)|([^\s"]*))$/;
const MOST = 50;

/** Null if nothing is being completed at the caret. */
export function completingAt(text: string, caret: number): Completing | null {
  const before = text.slice(0, caret);
  const command = COMMAND.exec(before);
  if (command) return { kind: "command", typed: command[1] ?? "", from: 0, to: wordEnd(text, caret) };
  const file = FILE.exec(before);
  if (!file) return null;
  const typed = file[1] ?? file[2] ?? "";
  const quoted = file[1] !== undefined;
  return { kind: "file", typed, from: caret - typed.length - (quoted ? 2 : 1), to: quoted ? caret : wordEnd(text, caret) };
}

/** The commands that fit: names that start with what was typed first, then names that have it, then descriptions. */
export function commandsFor(commands: readonly SlashCommand[], typed: string): SlashCommand[] {
  const wanted = typed.toLowerCase();
  const rank = ({ name, description }: SlashCommand) => {
    const lower = name.toLowerCase();
    if (lower.startsWith(wanted)) return 0;
    if (lower.includes(wanted)) return 1;
    return wanted.length > 2 && description.toLowerCase().includes(wanted) ? 2 : 3;
  };
  const ranked = commands.map((command) => [rank(command), command] as const).filter(([at]) => at < 3);
  return ranked
    .sort(([a], [b]) => a - b)
    .slice(0, MOST)
    .map(([, command]) => command);
}

/** Whether Enter takes the first choice. A command that was typed is sent as it is, even if others look like it. */
export function isTaken({ kind, typed }: Completing, value: string): boolean {
  return kind === "file" || (value !== typed && value.toLowerCase().startsWith(typed.toLowerCase()));
}

/** The text with a choice inserted, and where the caret is then. A directory is continued; a file is done. */
export function insert(text: string, { from, to, kind }: Completing, value: string): [string, number] {
  const rest = text.slice(to);
  const word = kind === "command" ? `/${value}` : mention(value);
  const space = value.endsWith("/") || rest.startsWith(" ") ? "" : " ";
  const caret = from + word.length + (value.endsWith("/") ? 0 : 1);
  return [text.slice(0, from) + word + space + rest, caret];
}

/** A path with blanks needs quotes. Those of a directory stay open until its file is chosen. */
function mention(path: string): string {
  if (!/\s/.test(path)) return `@${path}`;
  return path.endsWith("/") ? `@"${path}` : `@"${path}"`;
}

function wordEnd(text: string, caret: number): number {
  const rest = text.slice(caret).search(/\s/);
  return rest === -1 ? text.length : caret + rest;
}
