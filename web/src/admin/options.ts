/** A project's options as a form has them, and as the hub expects them. Pure. */
import type { Options } from "../generated/api";

export interface OptionsDraft {
  mode: string;
  model: string;
  allowed_tools: string;
  append_system_prompt: string;
  add_dirs: string;
  sandbox: string;
  ask_user_enabled: "" | "yes" | "no";
  ask_user_timeout: string;
  patience: Record<Kind, string>;
  parallel: string;
  cost_limit_usd: string;
}

export type Kind = "question" | "permission" | "plan" | "form" | "trust";
export const KINDS: Kind[] = ["question", "permission", "plan", "form", "trust"];

export function draftOf(options: Options): OptionsDraft {
  const number = (value: number | null | undefined) => (value === null || value === undefined ? "" : String(value));
  return {
    mode: options.mode ?? "",
    model: options.model ?? "",
    allowed_tools: (options.allowed_tools ?? []).join("\n"),
    append_system_prompt: options.append_system_prompt ?? "",
    add_dirs: (options.add_dirs ?? []).join("\n"),
    sandbox: options.sandbox ?? "",
    ask_user_enabled: options.ask_user_enabled === true ? "yes" : options.ask_user_enabled === false ? "no" : "",
    ask_user_timeout: number(options.ask_user_timeout),
    patience: Object.fromEntries(KINDS.map((kind) => [kind, number(options.patience?.[kind])])) as Record<Kind, string>,
    parallel: number(options.parallel),
    cost_limit_usd: number(options.cost_limit_usd),
  };
}

/** Empty fields follow the settings. `rules` are passed through. */
export function optionsOf(draft: OptionsDraft, rules: Options["rules"]): Options {
  const text = (value: string) => value.trim() || null;
  const lines = (value: string) =>
    value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  const number = (value: string) => (value.trim() === "" ? null : Number(value));
  return {
    mode: text(draft.mode),
    model: text(draft.model),
    allowed_tools: lines(draft.allowed_tools),
    append_system_prompt: text(draft.append_system_prompt),
    add_dirs: lines(draft.add_dirs),
    sandbox: text(draft.sandbox),
    ask_user_enabled: draft.ask_user_enabled === "" ? null : draft.ask_user_enabled === "yes",
    ask_user_timeout: number(draft.ask_user_timeout),
    patience: Object.fromEntries(KINDS.map((kind) => [kind, number(draft.patience[kind])])),
    parallel: number(draft.parallel),
    cost_limit_usd: number(draft.cost_limit_usd),
    rules: rules ?? [],
  };
}
