/** Text files that go with a message: part of its text, each with its name. Pure. */

export interface TextFile {
  name: string;
  text: string;
}

export const LARGEST_FILE = 256 * 1024;
export const LARGEST_ALL = 1024 * 1024;
export const MOST_FILES = 20;
const LONGEST_NAME = 120;

/** The text of a file, or null if it isn't text. */
export function textOf(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** A name that can't break out of its line, or look like something else. */
export function safeName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}`]/gu, "").trim();
  return plain.slice(0, LONGEST_NAME) || "file.txt";
}

/** The message with its files below it. The fence is longer than any in the file, so the file can't end it. */
export function withFiles(text: string, files: readonly TextFile[], title: (name: string) => string): string {
  const parts = files.map(({ name, text: content }) => {
    const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map((run) => run[0].length));
    const fence = "`".repeat(longest + 1);
    return `${title(name)}\n${fence}\n${content}${content.endsWith("\n") ? "" : "\n"}${fence}`;
  });
  return [text, ...parts].filter((part) => part.trim()).join("\n\n");
}

/** `12 KB`, `1 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes >= 1024 * 1024) return `${Math.round(bytes / 1024 / 1024)} MB`;
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} KB` : `${bytes} B`;
}
