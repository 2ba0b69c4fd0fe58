/** The form that makes a rule. Its effect is described above the button. */
import { useSignal } from "@preact/signals";
import { Field, SubmitForm, Select, TextArea, TextField } from "../parts/Form";
import { Quoted } from "../parts/Quoted";
import { projects, toolsOf } from "../store/desk";
import { reveal } from "../text/reveal";
import { t } from "../texts";
import { durationOf, sentenceOf, missing, type Decision, type RuleDraft } from "./draft";

const DECISIONS: Decision[] = ["allow", "deny", "ask"];
const TIMES = [0, 3600, 8 * 3600, 7 * 86_400];

interface RuleFormProps {
  first: RuleDraft;
  /** The session that a rule may be for, if it came from one. */
  session?: Owner | undefined;
  /** The rule belongs to one project: the form doesn't ask where. */
  fixed?: string;
  make: (draft: RuleDraft) => Promise<boolean>;
}

interface Owner {
  id: string;
  title: string;
}

type SetRule = (part: Partial<RuleDraft>) => void;

export function RuleForm({ first, session, fixed, make }: RuleFormProps) {
  const draft = useSignal(first);
  const busy = useSignal(false);
  const set: SetRule = (part) => (draft.value = { ...draft.value, ...part });
  const lacks = missing(draft.value);
  const submit = async () => {
    if (lacks || busy.value) return;
    busy.value = true;
    if (await make(draft.value)) draft.value = first;
    busy.value = false;
  };
  return (
    <SubmitForm class="stack rule-form" submit={submit}>
      <DecisionSwitch decision={draft.value.decision} set={set} />
      <div class="two">
        <Subject draft={draft.value} set={set} />
        {fixed === undefined && (
          <Field label={t("admin.rules.where")}>
            <RulePlace draft={draft.value} session={session} set={set} />
          </Field>
        )}
        <Terms draft={draft.value} set={set} />
      </div>
      <p class={`in-words ${draft.value.decision}`} role="status">
        {lacks ?? <Quoted text={sentenceOf(draft.value, (each) => whereOf(each, session, fixed))} />}
      </p>
      <div class="row-of-buttons">
        <button type="submit" class="primary" disabled={lacks !== null || busy.value}>
          {t("admin.rules.create")}
        </button>
      </div>
    </SubmitForm>
  );
}

function DecisionSwitch({ decision, set }: { decision: Decision; set: SetRule }) {
  return (
    <fieldset class="switch">
      <legend class="unseen">{t("admin.rules.decision")}</legend>
      {DECISIONS.map((each) => (
        <label key={each} class={each}>
          <input type="radio" name="decision" checked={decision === each} onChange={() => set({ decision: each })} />
          {t(`admin.rules.decisions.${each}`)}
        </label>
      ))}
    </fieldset>
  );
}

/** What the rule is about. Fields that make no sense together are not shown together. */
function Subject({ draft: { tool, commands, path, server }, set }: { draft: RuleDraft; set: SetRule }) {
  const shell = !tool.trim() || toolsOf("shell").includes(tool.trim()) || commands !== "";
  return (
    <>
      <Field label={t("admin.rules.tool")} hint={t("admin.rules.tool_hint")}>
        <TextField class="mono" placeholder={toolsOf("shell")[0]} value={tool} change={(text) => set({ tool: text })} />
      </Field>
      {shell && (
        <Field label={t("admin.rules.command")} hint={t("admin.rules.command_hint")}>
          <TextArea class="mono" rows={Math.max(1, commands.split("\n").length)} placeholder="npm run *" value={commands} change={(text) => set({ commands: text })} />
        </Field>
      )}
      {commands === "" && (
        <Field label={t("admin.rules.path")} hint={t("admin.rules.path_hint")}>
          <TextField class="mono" placeholder="src/**" value={path} change={(text) => set({ path: text })} />
        </Field>
      )}
      {commands === "" && path === "" && (
        <Field label={t("admin.rules.server")} hint={t("admin.rules.server_hint")}>
          <TextField class="mono" placeholder="github" value={server} change={(text) => set({ server: text })} />
        </Field>
      )}
    </>
  );
}

/** How long it lasts, and what Claude is sent with a denial. */
function Terms({ draft: { decision, message, seconds }, set }: { draft: RuleDraft; set: SetRule }) {
  return (
    <>
      <Field label={t("admin.rules.duration")}>
        <Select value={seconds} change={(value) => set({ seconds: Number(value) })} options={TIMES.map((each) => [each, durationOf(each)])} />
      </Field>
      {decision === "deny" && (
        <Field label={t("admin.rules.message")}>
          <TextField value={message} change={(text) => set({ message: text })} />
        </Field>
      )}
    </>
  );
}

function RulePlace({ draft, session, set }: { draft: RuleDraft; session: RuleFormProps["session"]; set: SetRule }) {
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

function whereOf(draft: RuleDraft, session: RuleFormProps["session"], fixed: string | undefined): string {
  if (fixed !== undefined) return t("admin.rules.in_project", { name: reveal(fixed) });
  if (draft.session) return t("admin.rules.in_session", { name: reveal(session?.title ?? draft.session) });
  if (!draft.project) return t("admin.rules.everywhere");
  return t("admin.rules.in_project", { name: reveal(projects.value.find((project) => project.id === draft.project)?.name ?? draft.project) });
}
