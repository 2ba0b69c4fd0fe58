/** The form that makes a rule. What it will do stands above the button, in words. */
import { useSignal } from "@preact/signals";
import { Field } from "../parts/Field";
import { Quoted } from "../parts/Quoted";
import { projects } from "../store/desk";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { durationOf, inWords, missing, type Decision, type RuleDraft } from "./draft";

const DECISIONS: Decision[] = ["allow", "deny", "ask"];
const TIMES = [0, 3600, 8 * 3600, 7 * 86_400];

interface Props {
  first: RuleDraft;
  /** The session that a rule may be for, if it came from one. */
  session?: { id: string; title: string } | undefined;
  /** The rule belongs to one project: where is not asked. */
  fixed?: string;
  make: (draft: RuleDraft) => Promise<boolean>;
}

export function RuleForm({ first, session, fixed, make }: Props) {
  const draft = useSignal(first);
  const busy = useSignal(false);
  const set = (part: Partial<RuleDraft>) => (draft.value = { ...draft.value, ...part });
  const { decision, tool, commands, path, server, message, seconds } = draft.value;
  const shell = !tool.trim() || tool.trim() === "Bash" || commands !== "";
  const lacks = missing(draft.value);
  const submit = async () => {
    if (lacks || busy.value) return;
    busy.value = true;
    if (await make(draft.value)) draft.value = first;
    busy.value = false;
  };
  return (
    <form
      class="stack rule-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <fieldset class="switch">
        <legend class="unseen">{t("admin.rules.decision")}</legend>
        {DECISIONS.map((each) => (
          <label key={each} class={each}>
            <input type="radio" name="decision" checked={decision === each} onChange={() => set({ decision: each })} />
            {t(`admin.rules.decisions.${each}`)}
          </label>
        ))}
      </fieldset>
      <div class="two">
        <Field label={t("admin.rules.tool")} says={t("admin.rules.tool_hint")}>
          <input class="mono" placeholder="Bash" value={tool} onInput={(event) => set({ tool: event.currentTarget.value })} />
        </Field>
        {shell && (
          <Field label={t("admin.rules.command")} says={t("admin.rules.command_hint")}>
            <textarea class="mono" rows={Math.max(1, commands.split("\n").length)} placeholder="npm run *" value={commands} onInput={(event) => set({ commands: event.currentTarget.value })} />
          </Field>
        )}
        {commands === "" && (
          <Field label={t("admin.rules.path")} says={t("admin.rules.path_hint")}>
            <input class="mono" placeholder="src/**" value={path} onInput={(event) => set({ path: event.currentTarget.value })} />
          </Field>
        )}
        {commands === "" && path === "" && (
          <Field label={t("admin.rules.server")} says={t("admin.rules.server_hint")}>
            <input class="mono" placeholder="github" value={server} onInput={(event) => set({ server: event.currentTarget.value })} />
          </Field>
        )}
        {fixed === undefined && (
          <Field label={t("admin.rules.where")}>
            <Where draft={draft.value} session={session} set={set} />
          </Field>
        )}
        <Field label={t("admin.rules.duration")}>
          <select value={String(seconds)} onChange={(event) => set({ seconds: Number(event.currentTarget.value) })}>
            {TIMES.map((each) => (
              <option key={each} value={each}>
                {durationOf(each)}
              </option>
            ))}
          </select>
        </Field>
        {decision === "deny" && (
          <Field label={t("admin.rules.message")}>
            <input value={message} onInput={(event) => set({ message: event.currentTarget.value })} />
          </Field>
        )}
      </div>
      <p class={`in-words ${decision}`} role="status">
        {lacks ?? <Quoted text={inWords(draft.value, (each) => whereOf(each, session, fixed))} />}
      </p>
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={lacks !== null || busy.value}>
          {t("admin.rules.create")}
        </button>
      </div>
    </form>
  );
}

function Where({ draft, session, set }: { draft: RuleDraft; session: Props["session"]; set: (part: Partial<RuleDraft>) => void }) {
  const value = draft.session ? "session" : draft.project;
  return (
    <select value={value} onChange={(event) => set(event.currentTarget.value === "session" ? { session: session?.id ?? "" } : { session: "", project: event.currentTarget.value })}>
      {session && <option value="session">{t("admin.session", { name: reveal(session.title) })}</option>}
      {/* A directory that is no project is its own place. */}
      {draft.project && !projects.value.some((project) => project.id === draft.project) && <option value={draft.project}>{reveal(draft.project)}</option>}
      {projects.value.map((project) => (
        <option key={project.id} value={project.id}>
          {t("admin.project", { name: reveal(project.name) })}
        </option>
      ))}
      <option value="">{t("admin.rules.everywhere")}</option>
    </select>
  );
}

function whereOf(draft: RuleDraft, session: Props["session"], fixed: string | undefined): string {
  if (fixed !== undefined) return t("admin.rules.in_project", { name: reveal(fixed) });
  if (draft.session) return t("admin.rules.in_session", { name: reveal(session?.title ?? draft.session) });
  if (!draft.project) return t("admin.rules.everywhere");
  return t("admin.rules.in_project", { name: reveal(projects.value.find((project) => project.id === draft.project)?.name ?? draft.project) });
}
