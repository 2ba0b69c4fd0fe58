/** Tokens: who may come in, as what, and since when. */
import { useSignal } from "@preact/signals";
import type { Link, MadeToken, Token, Tokens } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Copy } from "../parts/Copy";
import { Field } from "../parts/Field";
import { Table } from "../parts/Table";
import { may, projects } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import { durationOf } from "../rules/draft";
import { Loading, Trouble, useReading, type Reading } from "./read";

const ROLES = ["viewer", "approver", "admin", "agent"] as const;
const TIMES = [0, 86_400, 30 * 86_400, 365 * 86_400];

export function TokensPage() {
  if (!may("admin")) return <p class="empty">{t("admin.needs_admin")}</p>;
  return <All />;
}

function All() {
  const gone = useSignal(false);
  const reading = useReading<Tokens>(gone.value ? "/api/tokens?state=gone" : "/api/tokens");
  const list = reading.value.value?.tokens;
  return (
    <>
      <Trouble reading={reading} />
      <Make reading={reading} />
      <label class="tick">
        <input type="checkbox" checked={gone.value} onChange={(event) => (gone.value = event.currentTarget.checked)} /> {t("admin.tokens.show_revoked")}
      </label>
      {!list && <Loading reading={reading} />}
      {list?.length === 0 && <p class="empty">{t("admin.no_match")}</p>}
      {list && list.length > 0 && <List tokens={list} reading={reading} />}
    </>
  );
}

function List({ tokens, reading }: { tokens: readonly Token[]; reading: Reading<Tokens> }) {
  return (
    <Table
      label={t("page.admin.page.tokens")}
      heads={[t("admin.name"), t("admin.tokens.role"), t("admin.tokens.kind"), t("admin.tokens.created"), t("admin.tokens.last_used"), t("admin.tokens.expires")]}
      acts
    >
      {tokens.map((token) => (
        <tr key={token.id}>
          <td>
            {reveal(token.name)}
            {token.project && <span class="quiet-text"> {t("admin.project", { name: reveal(projects.value.find((each) => each.id === token.project)?.name ?? token.project) })}</span>}
          </td>
          <td>{t(`admin.role.${token.role}`)}</td>
          <td>{token.kind}</td>
          <td class="nowrap">{moment(token.created_at)}</td>
          <td class="nowrap">{token.last_used_at ? moment(token.last_used_at) : t("admin.tokens.never_used")}</td>
          <td class="nowrap">{goodUntil(token)}</td>
          <td>
            {!token.revoked_at && !isExpired(token) && (
              <Confirm says={t("admin.revoke")} really={t("admin.revoke_confirm")} act={() => void reading.act(() => ask("DELETE", `/api/tokens/${encodeURIComponent(token.id)}`))} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function goodUntil(token: Token): string {
  if (token.revoked_at) return t("admin.tokens.revoked", { date: moment(token.revoked_at) });
  if (!token.expires_at) return "–";
  return isExpired(token) ? t("admin.tokens.expired", { date: moment(token.expires_at) }) : moment(token.expires_at);
}

function isExpired(token: Token): boolean {
  return token.expires_at !== null && Date.parse(token.expires_at) <= Date.now();
}

function Make({ reading }: { reading: Reading<Tokens> }) {
  const name = useSignal("");
  const role = useSignal("approver");
  const seconds = useSignal(0);
  const project = useSignal("");
  const secret = useSignal<string | null>(null);
  const show = (what: () => Promise<string>) => reading.act(async () => (secret.value = await what()));
  const make = async () => {
    const wanted = {
      name: name.value,
      role: role.value,
      ...(seconds.value ? { expires_at: new Date(Date.now() + seconds.value * 1000).toISOString() } : {}),
      ...(role.value === "agent" && project.value ? { project: project.value } : {}),
    };
    if (await show(async () => (await post<MadeToken>("/api/tokens", wanted)).secret)) name.value = "";
  };
  return (
    <form
      class="panel stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <h2>{t("admin.tokens.new")}</h2>
      <div class="two">
        <Field label={t("admin.name")}>
          <input required value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        </Field>
        <Field label={t("admin.tokens.role")}>
          <select value={role.value} onChange={(event) => (role.value = event.currentTarget.value)}>
            {ROLES.map((each) => (
              <option key={each} value={each}>
                {t(`admin.role_detail.${each}`)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t("admin.tokens.expires")}>
          <select value={String(seconds.value)} onChange={(event) => (seconds.value = Number(event.currentTarget.value))}>
            {TIMES.map((each) => (
              <option key={each} value={each}>
                {durationOf(each)}
              </option>
            ))}
          </select>
        </Field>
        {role.value === "agent" && (
          <Field label={t("admin.tokens.project")}>
            <select value={project.value} onChange={(event) => (project.value = event.currentTarget.value)}>
              <option value="">{t("admin.tokens.no_project")}</option>
              {projects.value.map((each) => (
                <option key={each.id} value={each.id}>
                  {reveal(each.name)}
                </option>
              ))}
            </select>
          </Field>
        )}
      </div>
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("admin.tokens.new")}
        </button>
        <button type="button" title={t("admin.tokens.link_hint")} onClick={() => void show(async () => (await post<Link>("/api/login-link")).link)}>
          {t("admin.tokens.link")}
        </button>
      </div>
      {secret.value && (
        <div class="secret" role="status">
          <p>{t("admin.tokens.secret")}</p>
          <code>{secret.value}</code>
          <Copy text={secret.value} />
        </div>
      )}
    </form>
  );
}
