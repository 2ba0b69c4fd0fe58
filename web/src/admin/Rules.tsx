/** Rules: standing answers, who made them, and how to take them back. */
import { useSignal } from "@preact/signals";
import type { Rule, Rules } from "../generated/api";
import { moment } from "../store/clock";
import { may, projects, sessions } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { Trouble, useReading } from "./read";

export function RulesPage() {
  const reading = useReading<Rules>("/api/rules");
  const list = reading.value.value?.rules ?? [];
  return (
    <>
      <p>{t.admin.rulesSay}</p>
      <Trouble reading={reading} />
      {reading.value.value && !list.length && <p class="empty">{t.admin.noRules}</p>}
      {list.length > 0 && (
        <div class="table-frame" tabIndex={0} role="region" aria-label={t.admin.pages["rules"]}>
          <table class="list">
            <thead>
              <tr>
                <th>{t.admin.decision}</th>
                <th>{t.admin.scope}</th>
                <th>{t.admin.where}</th>
                <th>{t.admin.by}</th>
                <th>
                  <span class="unseen">{t.admin.acts}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((rule) => (
                <tr key={rule.id}>
                  <td>
                    <span class={`decision ${rule.decision}`}>{rule.decision}</span>
                  </td>
                  <td>
                    <Matches rule={rule} />
                  </td>
                  <td>{whereOf(rule)}</td>
                  <td>
                    {rule.source === "person" ? reveal(rule.made_by) : t.admin.ruleFrom[rule.source]}
                    {rule.made_at && <span class="quiet-text"> {moment(rule.made_at)}</span>}
                  </td>
                  <td>
                    {rule.source === "person" && may("admin") && (
                      <button type="button" class="danger quiet" onClick={() => void reading.act(() => ask("DELETE", `/api/rules/${encodeURIComponent(rule.id)}`))}>
                        {t.admin.revoke}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {may("admin") && <NewRule make={(rule) => reading.act(() => post("/api/rules", rule))} />}
    </>
  );
}

function Matches({ rule }: { rule: Rule }) {
  const parts = [rule.tool, rule.command, rule.path, rule.server && `server ${rule.server}`, rule.mode && `mode ${rule.mode}`];
  return (
    <>
      {parts.filter(Boolean).map((part, at) => (
        <code key={at}>{reveal(String(part))}</code>
      ))}
      {rule.message && <span class="quiet-text"> “{reveal(rule.message)}”</span>}
    </>
  );
}

function whereOf(rule: Rule): string {
  if (rule.session) return t.admin.session(reveal(sessions.value.get(rule.session)?.title ?? rule.session));
  if (!rule.project) return t.admin.everywhere;
  const known = projects.value.find((project) => project.id === rule.project)?.name;
  return t.admin.project(reveal(known ?? rule.project.split("/").at(-1) ?? rule.project));
}

function NewRule({ make }: { make: (rule: unknown) => Promise<boolean> }) {
  const rule = useSignal({ decision: "allow", tool: "", command: "", path: "", project: "", message: "" });
  const set = (part: Partial<typeof rule.value>) => (rule.value = { ...rule.value, ...part });
  const submit = async () => {
    const filled = Object.fromEntries(Object.entries(rule.value).filter(([, value]) => value.trim() !== ""));
    if (await make(filled)) rule.value = { decision: "allow", tool: "", command: "", path: "", project: "", message: "" };
  };
  return (
    <form
      class="panel stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>{t.admin.newRule}</h2>
      <div class="two">
        <label class="field">
          <span>{t.admin.decision}</span>
          <select value={rule.value.decision} onChange={(event) => set({ decision: event.currentTarget.value })}>
            <option>allow</option>
            <option>deny</option>
            <option>ask</option>
          </select>
        </label>
        <label class="field">
          <span>{t.admin.tool}</span>
          <input class="mono" placeholder="Bash" value={rule.value.tool} onInput={(event) => set({ tool: event.currentTarget.value })} />
        </label>
        <label class="field">
          <span>{t.admin.command}</span>
          <input class="mono" placeholder="npm run *" value={rule.value.command} onInput={(event) => set({ command: event.currentTarget.value })} />
        </label>
        <label class="field">
          <span>{t.admin.pattern}</span>
          <input class="mono" placeholder="src/**" value={rule.value.path} onInput={(event) => set({ path: event.currentTarget.value })} />
        </label>
        <label class="field">
          <span>{t.start.project}</span>
          <select value={rule.value.project} onChange={(event) => set({ project: event.currentTarget.value })}>
            <option value="">{t.admin.everywhere}</option>
            {projects.value.map((project) => (
              <option key={project.id} value={project.id}>
                {reveal(project.name)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{t.admin.message}</span>
          <input value={rule.value.message} onInput={(event) => set({ message: event.currentTarget.value })} />
        </label>
      </div>
      <div class="row-of-buttons">
        <button type="submit" class="primary">{t.admin.newRule}</button>
      </div>
    </form>
  );
}
