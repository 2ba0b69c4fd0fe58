/** Tokens: who has access, with which role, and since when. */
import { useSignal } from "@preact/signals";
import type { Link, MadeToken, Token, Tokens } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { Copy } from "../parts/Copy";
import { Field, SubmitForm, Select, TextField, Tick } from "../parts/Form";
import { Table } from "../parts/Table";
import { may, projects } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t, textOr } from "../texts";
import { durationOf } from "../rules/draft";
import { Loading, Trouble, useResource, type Resource } from "./read";

const ROLES = ["viewer", "approver", "admin", "agent"] as const;
const TIMES = [0, 86_400, 30 * 86_400, 365 * 86_400];

export function TokensPage() {
  if (!may("admin")) return <p class="empty">{t("admin.needs_admin")}</p>;
  return <AllTokens />;
}

function AllTokens() {
  const gone = useSignal(false);
  const reading = useResource<Tokens>(gone.value ? "/api/tokens?state=gone" : "/api/tokens");
  const list = reading.value.value?.tokens;
  return (
    <>
      <Trouble reading={reading} />
      <NewTokenForm reading={reading} />
      <Tick checked={gone.value} change={(checked) => (gone.value = checked)}>
        {t("admin.tokens.show_revoked")}
      </Tick>
      {!list && <Loading reading={reading} />}
      {list?.length === 0 && <p class="empty">{t("admin.no_match")}</p>}
      {list && list.length > 0 && <TokenList tokens={list} reading={reading} />}
    </>
  );
}

function TokenList({ tokens, reading }: { tokens: readonly Token[]; reading: Resource<Tokens> }) {
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
          <td>{textOr(`admin.tokens.kinds.${token.kind}`, token.kind)}</td>
          <td class="nowrap">{moment(token.created_at)}</td>
          <td class="nowrap">{token.last_used_at ? moment(token.last_used_at) : t("admin.tokens.never_used")}</td>
          <td class="nowrap">{expiryOf(token)}</td>
          <td>
            {!token.revoked_at && !isExpired(token) && (
              <Confirm label={t("admin.revoke")} really={t("admin.revoke_confirm")} act={() => void reading.act(() => ask("DELETE", `/api/tokens/${encodeURIComponent(token.id)}`))} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function expiryOf(token: Token): string {
  if (token.revoked_at) return t("admin.tokens.revoked", { date: moment(token.revoked_at) });
  if (!token.expires_at) return "–";
  return isExpired(token) ? t("admin.tokens.expired", { date: moment(token.expires_at) }) : moment(token.expires_at);
}

function isExpired(token: Token): boolean {
  return token.expires_at !== null && Date.parse(token.expires_at) <= Date.now();
}

/** The inputs of a new token. */
interface TokenDraft {
  name: string;
  role: (typeof ROLES)[number];
  seconds: number;
  project: string;
}

const NO_TOKEN: TokenDraft = { name: "", role: "approver", seconds: 0, project: "" };

function NewTokenForm({ reading }: { reading: Resource<Tokens> }) {
  const draft = useSignal(NO_TOKEN);
  const secret = useSignal<string | null>(null);
  const show = (make: () => Promise<string>) => reading.act(async () => (secret.value = await make()));
  const create = async () => {
    if (await show(async () => (await post<MadeToken>("/api/tokens", bodyOf(draft.value))).secret)) draft.value = { ...draft.value, name: "" };
  };
  const link = () => show(async () => (await post<Link>("/api/login-link")).link);
  return (
    <SubmitForm class="panel stack" submit={create}>
      <h2>{t("admin.tokens.new")}</h2>
      <TokenFields draft={draft.value} set={(part) => (draft.value = { ...draft.value, ...part })} />
      <div class="row-of-buttons">
        <button type="submit" class="primary">
          {t("admin.tokens.new")}
        </button>
        <button type="button" title={t("admin.tokens.link_hint")} onClick={link}>
          {t("admin.tokens.link")}
        </button>
      </div>
      {secret.value && <Secret secret={secret.value} />}
    </SubmitForm>
  );
}

function bodyOf({ name, role, seconds, project }: TokenDraft): object {
  const expires = seconds ? { expires_at: new Date(Date.now() + seconds * 1000).toISOString() } : {};
  return { name, role, ...expires, ...(role === "agent" && project ? { project } : {}) };
}

function TokenFields({ draft, set }: { draft: TokenDraft; set: (part: Partial<TokenDraft>) => void }) {
  return (
    <div class="two">
      <Field label={t("admin.name")}>
        <TextField required value={draft.name} change={(name) => set({ name })} />
      </Field>
      <Field label={t("admin.tokens.role")}>
        <Select value={draft.role} change={(role) => set({ role: role as TokenDraft["role"] })} options={ROLES.map((each) => [each, t(`admin.role_detail.${each}`)])} />
      </Field>
      <Field label={t("admin.tokens.expires")}>
        <Select value={draft.seconds} change={(seconds) => set({ seconds: Number(seconds) })} options={TIMES.map((each) => [each, durationOf(each)])} />
      </Field>
      {draft.role === "agent" && (
        <Field label={t("admin.tokens.project")}>
          <Select value={draft.project} change={(project) => set({ project })} options={[["", t("admin.tokens.no_project")], ...projects.value.map((each) => [each.id, reveal(each.name)] as const)]} />
        </Field>
      )}
    </div>
  );
}

function Secret({ secret }: { secret: string }) {
  return (
    <div class="secret" role="status">
      <p>{t("admin.tokens.secret")}</p>
      <code>{secret}</code>
      <Copy text={secret} />
    </div>
  );
}
