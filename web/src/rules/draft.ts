/** A rule in the making: drafted from an ask, put in words, and as the hub expects it. Pure. */
import type { NewRule, ProjectRule, Rule } from "../generated/api";
import type { Ask, Project, Session } from "../feed/model";
import { fileOf, nearby } from "../text/paths";
import { reveal, revealExactly } from "../text/reveal";
import { listed } from "../text/times";
import { t } from "../texts";
import "../admin/texts";

export type Decision = "allow" | "deny" | "ask";

export interface RuleDraft {
  decision: Decision;
  tool: string;
  /** One pattern per line; each becomes a rule. */
  commands: string;
  path: string;
  server: string;
  /** A project's id, or nothing for everywhere. */
  project: string;
  session: string;
  message: string;
  /** How many seconds it lasts; 0 for no expiry. */
  seconds: number;
}

export const NO_RULE: RuleDraft = { decision: "allow", tool: "", commands: "", path: "", server: "", project: "", session: "", message: "", seconds: 0 };

const DAY = 86_400;

/** What the hub would offer for longer, or else exactly what was asked for. */
export function draftOf(ask: Ask, session: Session | undefined, projects: readonly Project[]): RuleDraft {
  if (ask.kind !== "permission") return NO_RULE;
  const { body, card } = ask;
  const draft = { ...NO_RULE, tool: body.tool, project: projectOf(ask, session, projects) };
  const offered = (body.offers.find((offer) => offer.for === "always") ?? body.offers[0])?.rules ?? [];
  const first = offered[0];
  if (first) return { ...draft, tool: first.tool ?? "", commands: lines(offered.map((rule) => rule.command)), path: first.path ?? "", server: first.server ?? "" };
  const command = body.input["command"];
  if (card.traits?.kind === "shell") return { ...draft, commands: typeof command === "string" && !command.includes("\n") ? command : "" };
  return { ...draft, path: nearby(fileOf(card.traits, body.input), session?.directory ?? null) };
}

function projectOf(ask: Ask, session: Session | undefined, projects: readonly Project[]): string {
  const directory = session?.directory;
  return ask.project ?? session?.project ?? projects.find((project) => directory === project.path || directory?.startsWith(`${project.path}/`))?.id ?? "";
}

/** What is still missing, or null. */
export function missing(draft: RuleDraft): string | null {
  const named = [draft.tool, draft.commands, draft.path, draft.server].some((each) => each.trim());
  return named ? null : t("admin.rules.empty");
}

/** The rule in a sentence, before it is created. Backquotes mark what was typed. */
export function sentenceOf(draft: RuleDraft, names: (draft: RuleDraft) => string): string {
  const what = subject(draft);
  const where = names(draft);
  const message = draft.decision === "deny" ? reveal(draft.message.trim()) : "";
  const sentence = message ? t("admin.rules.sentence.deny_message", { what, where, message }) : t(`admin.rules.sentence.${draft.decision}`, { what, where });
  return draft.seconds ? `${sentence} ${lasts(draft.seconds)}` : sentence;
}

function lasts(seconds: number): string {
  return seconds < DAY ? t("admin.rules.lasts.hours", { count: seconds / 3600 }) : t("admin.rules.lasts.days", { count: seconds / DAY });
}

/** The offered lifetimes of a rule or a token. */
export function durationOf(seconds: number): string {
  if (seconds === 0) return t("admin.expiry.never");
  return seconds < DAY ? t("admin.expiry.hours", { count: seconds / 3600 }) : t("admin.expiry.days", { count: seconds / DAY });
}

/** What a rule is about, in words. */
export function subject(rule: Pick<RuleDraft, "tool" | "commands" | "path" | "server">): string {
  const patterns = patternsOf(rule.commands);
  const quoted = (text: string) => `\`${revealExactly(text.trim()).replaceAll("`", "ˋ")}\``;
  const [tool, path, server] = [rule.tool, rule.path, rule.server].map((each) => (each.trim() ? quoted(each) : ""));
  if (patterns.length) return t("admin.rules.what.commands", { patterns: listed(patterns.map(quoted)) });
  if (path) return tool ? t("admin.rules.what.tool_files", { tool, path }) : t("admin.rules.what.files", { path });
  if (server) return tool ? t("admin.rules.what.server_tool", { tool, server }) : t("admin.rules.what.server", { server });
  return tool ? t("admin.rules.what.tool", { tool }) : t("admin.rules.what.everything");
}

export function subjectOf(rule: Rule | ProjectRule): string {
  return subject({ tool: rule.tool ?? "", commands: rule.command ?? "", path: rule.path ?? "", server: rule.server ?? "" });
}

/** As the hub expects it: one rule for each command. */
export function toRules(draft: RuleDraft, now: number): NewRule[] {
  const { decision, tool, path, server, project, session, message, seconds } = draft;
  const fields = { tool, path, server, project: session ? "" : project, session, message: decision === "deny" ? message : "" };
  const filled = Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value.trim() ? [[key, value.trim()]] : [])));
  const expires = seconds ? { expires_at: new Date(now + seconds * 1000).toISOString() } : {};
  const patterns = patternsOf(draft.commands);
  return (patterns.length ? patterns : [null]).map((command) => ({ decision, ...filled, ...expires, ...(command ? { command } : {}) }));
}

function patternsOf(commands: string): string[] {
  return commands
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function lines(commands: readonly (string | null)[]): string {
  return commands.filter((command) => command !== null).join("\n");
}
