/** Colors for code, loaded when the first code is shown. */
import DOMPurify from "dompurify";
import { isColoured } from "./plain";

type Highlighter = typeof import("./languages");

let loaded: Promise<Highlighter> | undefined;
const LONGEST = 40_000;

const BY_ENDING: Record<string, string> = {
  py: "python",
  js: "javascript",
  mjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  sh: "bash",
  zsh: "bash",
  shell: "bash",
  console: "bash",
  json: "json",
  yml: "yaml",
  html: "xml",
  svg: "xml",
  rs: "rust",
  md: "markdown",
  toml: "ini",
  h: "c",
  cc: "cpp",
};

/** Safe HTML of the code, or null to leave it as it is. */
export async function highlight(code: string, name: string): Promise<string | null> {
  const language = BY_ENDING[name] ?? name;
  if (!language || code.length > LONGEST) return null;
  loaded ??= import("./languages");
  const { highlighter } = await loaded;
  if (!highlighter.getLanguage(language)) return null;
  const html = highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  return isColoured(html) ? html : DOMPurify.sanitize(html, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] });
}
