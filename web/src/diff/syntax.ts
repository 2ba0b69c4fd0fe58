/** Syntax colors, line by line, for the common languages. Loaded when the first diff is shown. Pure: it only says where what is. */

export type TokenKind = "keyword" | "string" | "number" | "comment" | "name";
/** From, to, and what it is. In order, none overlapping. */
export type Token = readonly [number, number, TokenKind];
/** What a line begins in: a comment or a text that goes on from the line before. */
export type Inside = Enclosed | null;

interface Enclosed {
  readonly open: string;
  readonly close: string;
  readonly kind: "comment" | "string";
  /** Whether it may go on in the next line. */
  readonly long: boolean;
  readonly escapes: boolean;
}

export interface Language {
  readonly words: ReadonlySet<string>;
  readonly comments: readonly string[];
  readonly enclosed: readonly Enclosed[];
  /** Tried first, at each place. */
  readonly special: readonly (readonly [RegExp, TokenKind])[];
  readonly ignoresCase: boolean;
}

/** Longer lines are left as they are. */
const LONGEST = 2_000;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;

/** The tokens of one line, and what the next line begins in. */
export function tokenize(line: string, language: Language, before: Inside): { tokens: Token[]; inside: Inside } {
  const tokens: Token[] = [];
  if (line.length > LONGEST) return { tokens, inside: before };
  let inside = before;
  let at = 0;
  if (inside) {
    at = endOf(line, 0, inside);
    tokens.push([0, Math.min(at, line.length), inside.kind]);
    if (at > line.length) return { tokens, inside };
    inside = null;
  }
  while (at < line.length) {
    const found = next(line, at, language);
    if (found.kind) tokens.push([at, Math.min(found.to, line.length), found.kind]);
    if (found.to > line.length) return { tokens, inside: found.inside ?? null };
    at = found.to;
  }
  return { tokens, inside: null };
}

interface Found {
  to: number;
  kind: TokenKind | null;
  inside?: Inside;
}

/** What is at this place. `to` is beyond the line if it goes on in the next one. */
function next(line: string, at: number, language: Language): Found {
  for (const [pattern, kind] of language.special) {
    const to = match(pattern, line, at);
    if (to > at) return { to, kind };
  }
  for (const mark of language.comments) {
    if (line.startsWith(mark, at) && (mark !== "#" || at === 0 || /\s/.test(line[at - 1] as string))) return { to: line.length, kind: "comment" };
  }
  for (const each of language.enclosed) {
    if (!line.startsWith(each.open, at)) continue;
    const to = endOf(line, at + each.open.length, each);
    if (to <= line.length) return { to, kind: each.kind };
    // What can't go on in the next line ends with this one.
    return each.long ? { to, kind: each.kind, inside: each } : { to: line.length, kind: each.kind };
  }
  const number = match(NUMBER, line, at);
  if (number > at) return { to: number, kind: "number" };
  const word = match(WORD, line, at);
  if (word === at) return { to: at + 1, kind: null };
  const text = line.slice(at, word);
  if (language.words.has(language.ignoresCase ? text.toLowerCase() : text)) return { to: word, kind: "keyword" };
  return { to: word, kind: line[word] === "(" ? "name" : null };
}

function match(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : at;
}

/** The place after its end; beyond the line if it has none there. */
function endOf(line: string, from: number, { close, escapes }: Enclosed): number {
  for (let at = from; at < line.length; at += 1) {
    if (escapes && line[at] === "\\") at += 1;
    else if (line.startsWith(close, at)) return at + close.length;
  }
  return line.length + 1;
}

const text = (open: string, { long = false, escapes = true, close = open } = {}): Enclosed => ({ open, close, kind: "string", long, escapes });
const comment = (open: string, close: string): Enclosed => ({ open, close, kind: "comment", long: true, escapes: false });

interface Shape {
  words?: string;
  comments?: readonly string[];
  enclosed?: readonly Enclosed[];
  special?: readonly (readonly [RegExp, TokenKind])[];
  ignoresCase?: boolean;
}

function language({ words = "", comments = [], enclosed = [], special = [], ignoresCase = false }: Shape): Language {
  return { words: new Set(words.split(" ").filter(Boolean)), comments, enclosed, special, ignoresCase };
}

const C_LIKE = { comments: ["//"], enclosed: [comment("/*", "*/"), text('"'), text("'")] };
const SCRIPT =
  "as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null of private protected public readonly return set static super switch this throw true try type typeof undefined var void while with yield";

const LANGUAGES: Record<string, Language> = {
  python: language({
    words:
      "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    comments: ["#"],
    enclosed: [text('"""', { long: true }), text("'''", { long: true }), text('"'), text("'")],
    special: [[/@[\w.]+/y, "name"]],
  }),
  script: language({ words: SCRIPT, comments: ["//"], enclosed: [comment("/*", "*/"), text('"'), text("'"), text("`", { long: true })] }),
  json: language({ words: "true false null", special: [[/"(?:[^"\\]|\\.)*"(?=\s*:)/y, "name"]], enclosed: [text('"')], comments: ["//"] }),
  shell: language({
    words: "case do done elif else esac exit export fi for function if in local readonly return set shift source then trap unset until while",
    comments: ["#"],
    enclosed: [text('"', { long: true }), text("'", { long: true, escapes: false })],
    special: [[/\$(?:\{[^}]*\}|\w+|[@*#?$!])/y, "number"]],
  }),
  go: language({
    words:
      "any bool break byte case chan const continue default defer else error fallthrough false for func go goto if import int interface iota make map nil package range return rune select string struct switch true type var",
    ...C_LIKE,
    enclosed: [...C_LIKE.enclosed, text("`", { long: true, escapes: false })],
  }),
  rust: language({
    words:
      "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    comments: ["//"],
    enclosed: [comment("/*", "*/"), text('"', { long: true })],
    special: [
      [/'(?:\\.|[^\\'])'/y, "string"],
      [/#!?\[[^\]]*\]/y, "comment"],
    ],
  }),
  java: language({
    words:
      "abstract boolean break byte case catch char class companion const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is long native new null object open override package private protected public record return sealed short static super suspend switch synchronized this throw throws trait true try val var void volatile when while yield",
    ...C_LIKE,
    special: [[/@\w+/y, "name"]],
  }),
  c: language({
    words:
      "auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if include inline int long namespace new nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
    ...C_LIKE,
    special: [[/#\s*(?:include|define|ifdef|ifndef|if|elif|else|endif|pragma|undef)\b/y, "keyword"]],
  }),
  csharp: language({
    words:
      "abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event explicit extern false finally float for foreach get goto if implicit in int interface internal is lock long namespace new null object operator out override params private protected public readonly record ref return sealed set short static string struct switch this throw true try typeof uint using var virtual void volatile where while yield",
    ...C_LIKE,
  }),
  ruby: language({
    words:
      "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield",
    comments: ["#"],
    enclosed: [text('"'), text("'")],
    special: [[/:[a-z_]\w*|@\w+/y, "number"]],
  }),
  php: language({
    words: `${SCRIPT} abstract array echo elseif foreach fn global include isset namespace require trait use`,
    comments: ["//", "#"],
    enclosed: C_LIKE.enclosed,
    special: [[/\$\w+/y, "number"]],
  }),
  swift: language({
    words:
      "actor as async await break case catch class continue default defer do else enum extension false fileprivate final for func guard if import in init inout internal is lazy let mutating nil open override private protocol public return self Self static struct super switch throw throws true try var where while",
    ...C_LIKE,
    enclosed: [text('"""', { long: true }), ...C_LIKE.enclosed],
  }),
  sql: language({
    words:
      "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then true union unique update using values view when where with",
    comments: ["--"],
    enclosed: [comment("/*", "*/"), text("'"), text('"')],
    ignoresCase: true,
  }),
  css: language({
    enclosed: [comment("/*", "*/"), text('"'), text("'")],
    special: [
      [/@[\w-]+/y, "keyword"],
      [/--[\w-]+|[\w-]+(?=\s*:\s)/y, "name"],
      [/#[\da-fA-F]{3,8}\b/y, "number"],
    ],
  }),
  markup: language({
    enclosed: [comment("<!--", "-->"), text('"'), text("'")],
    special: [
      [/<\/?[A-Za-z][\w:.-]*|\/?>/y, "keyword"],
      [/[\w:-]+(?==)/y, "name"],
    ],
  }),
  yaml: language({ words: "true false null yes no on off", comments: ["#"], enclosed: [text('"'), text("'")], special: [[/[\w./-]+(?=\s*:(?:\s|$))/y, "name"]] }),
  ini: language({
    words: "true false",
    comments: ["#", ";"],
    enclosed: [text('"""', { long: true }), text('"'), text("'")],
    special: [
      [/\[\[?[\w.\s"-]+\]\]?(?=\s*$)/y, "keyword"],
      [/[\w.-]+(?=\s*=)/y, "name"],
    ],
  }),
  make: language({
    words: "else endef endif export ifdef ifeq ifndef ifneq include define",
    comments: ["#"],
    special: [
      [/\$\([^)]*\)|\$\w/y, "number"],
      [/[\w.%/-]+(?=\s*:(?!=))/y, "name"],
    ],
  }),
  docker: language({
    words: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user volume workdir",
    comments: ["#"],
    enclosed: [text('"'), text("'")],
    ignoresCase: true,
  }),
  lua: language({
    words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
    comments: ["--"],
    enclosed: [text("[[", { close: "]]", long: true, escapes: false }), text('"'), text("'")],
  }),
  markdown: language({
    special: [
      [/`[^`]+`/y, "string"],
      [/\*\*[^*]+\*\*/y, "keyword"],
      [/\]\([^)]*\)/y, "number"],
    ],
  }),
};

const BY_ENDING: Record<string, string> = {
  py: "python",
  pyi: "python",
  js: "script",
  mjs: "script",
  cjs: "script",
  jsx: "script",
  ts: "script",
  mts: "script",
  cts: "script",
  tsx: "script",
  vue: "script",
  svelte: "script",
  json: "json",
  jsonc: "json",
  json5: "json",
  ipynb: "json",
  sh: "shell",
  bash: "shell",
  zsh: "shell",
  go: "go",
  rs: "rust",
  java: "java",
  kt: "java",
  kts: "java",
  scala: "java",
  groovy: "java",
  gradle: "java",
  c: "c",
  h: "c",
  cc: "c",
  cpp: "c",
  cxx: "c",
  hpp: "c",
  m: "c",
  mm: "c",
  zig: "c",
  cs: "csharp",
  rb: "ruby",
  php: "php",
  swift: "swift",
  dart: "java",
  sql: "sql",
  css: "css",
  scss: "css",
  less: "css",
  html: "markup",
  htm: "markup",
  xml: "markup",
  svg: "markup",
  yml: "yaml",
  yaml: "yaml",
  toml: "ini",
  ini: "ini",
  cfg: "ini",
  conf: "ini",
  env: "ini",
  properties: "ini",
  mk: "make",
  lua: "lua",
  md: "markdown",
};
const BY_NAME: Record<string, string> = { makefile: "make", dockerfile: "docker", containerfile: "docker", gemfile: "ruby", rakefile: "ruby" };

/** The language of a file, by its name; null if it isn't known. */
export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const key = BY_NAME[name] ?? BY_ENDING[name.slice(name.lastIndexOf(".") + 1)];
  return (key && Object.hasOwn(LANGUAGES, key) && LANGUAGES[key]) || null;
}
