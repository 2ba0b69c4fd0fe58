/** What is asked, in a sentence a person would say; and what was answered, in a line that keeps the truth. Pure. */
import type { Actor, Answer, Ask, Permission } from "../feed/model";
import { isNew, readDiff } from "../text/diff";
import { reveal } from "../text/reveal";
import { t } from "../texts";

const SHORT = 72;

/** The question of an ask; backquotes are around what a machine said. */
export function sentence(ask: Ask, directory: string | null): string {
  switch (ask.kind) {
    case "question":
      return reveal(ask.body.questions.map((prompt) => prompt.question).join(" · "));
    case "permission":
      return permissionSentence(ask.body, directory);
    case "plan":
      return t("page.card.plan.title");
    case "form":
      return t("page.card.form.title", { server: quotable(ask.body.server), message: reveal(ask.body.message) });
    case "trust":
      return t("page.card.trust.ask", { directory: quotable(ask.body.directory) });
  }
}

export function permissionSentence(body: Permission, directory: string | null): string {
  const { tool, input } = body;
  const path = nearby(text(input["file_path"]) || text(input["notebook_path"]) || text(input["path"]), directory);
  switch (tool) {
    case "Bash": {
      const command = text(input["command"]);
      return isShort(command) ? t("page.card.permission.run", { command: quotable(command) }) : t("page.card.permission.run_long");
    }
    case "Write": {
      if (!path) break;
      const lines = text(input["content"]).replace(/\n$/, "").split("\n").length;
      const fresh = body.diff !== null && isNew(readDiff(body.diff));
      return fresh ? t("page.card.permission.create", { path: quotable(path), count: lines }) : t("page.card.permission.write", { path: quotable(path), count: lines });
    }
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      if (path) return t("page.card.permission.edit", { path: quotable(path) });
      break;
    case "Read":
      if (path) return t("page.card.permission.read", { path: quotable(path) });
      break;
    case "WebFetch":
      if (isShort(text(input["url"]))) return t("page.card.permission.fetch", { url: quotable(text(input["url"])) });
      break;
    case "WebSearch":
      if (isShort(text(input["query"]))) return t("page.card.permission.search", { query: quotable(text(input["query"])) });
      break;
  }
  const mcp = /^mcp__(.+?)__(.+)$/.exec(tool);
  return mcp ? t("page.card.permission.mcp", { tool: quotable(mcp[2] ?? ""), server: quotable(mcp[1] ?? "") }) : t("page.card.permission.use", { tool: quotable(tool) });
}

/** Whether the sentence alone shows all of the command. */
export function isWhole(body: Permission): boolean {
  return body.tool === "Bash" && isShort(text(body.input["command"]));
}

/** A settled ask in one line, without the times. */
export function outcome(ask: Ask, answer: Answer, by: Actor, mine: boolean, directory: string | null): string {
  const who = mine ? t("page.card.done.you") : by.kind === "rule" ? t("page.card.done.rule") : by.kind === "hub" ? t("page.card.done.hub") : reveal(by.name);
  if ("answers" in answer) {
    const all = answer.answers.map((choice) => [...(choice.labels ?? []), ...(choice.text ? [choice.text] : [])].join(", "));
    return t("page.card.done.answered", { who, what: reveal(all.join(" · ")) });
  }
  if ("allow" in answer) {
    const what = ask.kind === "permission" ? thing(ask.body, directory) : "";
    if (!answer.allow) return t("page.card.done.denied", { who, what }) + (answer.message ? `: “${reveal(answer.message)}”` : "");
    const extra = [
      answer.for === "session" || answer.for === "always" ? t(`page.card.done.for.${answer.for}`) : "",
      answer.input ? t("page.card.done.edited") : "",
      answer.suggestions?.length ? t("page.card.done.suggested") : "",
    ]
      .filter(Boolean)
      .join(", ");
    return t("page.card.done.allowed", { who, what }) + (extra ? `, ${extra}` : "");
  }
  if ("approve" in answer) {
    if (answer.approve) return t(answer.mode === "acceptEdits" ? "page.card.done.approved_free" : "page.card.done.approved", { who }) + (answer.plan ? `, ${t("page.card.done.edited")}` : "");
    return t("page.card.done.revised", { who }) + (answer.message ? `: “${reveal(answer.message)}”` : "");
  }
  if ("outline" in answer) return t("page.card.done.outlined", { who });
  if ("trust" in answer) return t(`page.card.done.trust.${answer.trust}`, { who });
  if (answer.action === "accept") return t("page.card.done.filled", { who });
  return answer.action === "decline" ? t("page.card.done.declined", { who }) : t("page.card.done.cancelled", { who });
}

/** What a permission is about, in a few words. */
function thing(body: Permission, directory: string | null): string {
  const { input, tool } = body;
  const command = text(input["command"]);
  if (tool === "Bash" && command) return `\`${quotable(clip(command))}\``;
  const path = nearby(text(input["file_path"]) || text(input["notebook_path"]) || text(input["path"]), directory);
  return path ? `${reveal(tool)} \`${quotable(path)}\`` : `\`${quotable(tool)}\``;
}

export function basename(path: string): string {
  return reveal(path.split("/").filter(Boolean).at(-1) ?? path);
}

/** A path as seen from the session's directory. */
export function nearby(path: string, directory: string | null): string {
  return directory && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}

/** Made visible, and without backquotes of its own that would end the quote early. */
function quotable(told: string): string {
  return reveal(told).replaceAll("`", "ˋ");
}

function isShort(told: string): boolean {
  return told.length > 0 && told.length <= SHORT && !told.includes("\n") && !told.includes("`") && reveal(told) === told;
}

function clip(told: string): string {
  const line = told.split("\n")[0] ?? "";
  return line.length > SHORT || line !== told ? `${line.slice(0, SHORT)}…` : line;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
