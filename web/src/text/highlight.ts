/** Colors for code, loaded when the first code is shown. */
import { LANGUAGES } from "./languages";
import { isColoured } from "./plain";

type Highlighter = typeof import("highlight.js/lib/core").default;

const loaded = new Map<string, Promise<Highlighter>>();
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
  if (!Object.hasOwn(LANGUAGES, language) || code.length > LONGEST) return null;
  let loading = loaded.get(language);
  if (!loading) loaded.set(language, (loading = load(language)));
  const highlighter = await loading.catch(() => null);
  if (!highlighter) {
    loaded.delete(language);
    return null;
  }
  const html = highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  return isColoured(html) ? html : null;
}

async function load(language: string): Promise<Highlighter> {
  const [core, found] = await Promise.all([import("highlight.js/lib/core"), LANGUAGES[language]?.()]);
  if (found) core.default.registerLanguage(language, found.default);
  return core.default;
}
