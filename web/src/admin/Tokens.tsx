/** Tokens: who may come in, as what, and since when. */
import { useSignal } from "@preact/signals";
import type { Link, MadeToken, Tokens } from "../generated/api";
import { Copy } from "../parts/Copy";
import { moment } from "../store/clock";
import { may } from "../store/desk";
import { ask, post } from "../store/http";
import { reveal } from "../text/reveal";
import { texts as t } from "../texts";
import { Trouble, useReading } from "./read";

const ROLES = ["viewer", "approver", "admin", "agent"];

export function TokensPage() {
  if (!may("admin")) return <p class="empty">{t.admin.needsAdmin}</p>;
  return <List />;
}

function List() {
  const reading = useReading<Tokens>("/api/tokens");
  const name = useSignal("");
  const role = useSignal("approver");
  const secret = useSignal<string | null>(null);
  const show = async (what: () => Promise<string>) => {
    await reading.act(async () => (secret.value = await what()));
  };
  return (
    <>
      <Trouble reading={reading} />
      {secret.value && (
        <div class="panel secret" role="status">
          <p>{t.admin.secret}</p>
          <code>{secret.value}</code>
          <Copy text={secret.value} />
        </div>
      )}
      <div class="table-frame" tabIndex={0} role="region" aria-label={t.admin.pages["tokens"]}>
        <table class="list">
          <thead>
            <tr>
              <th>{t.admin.name}</th>
              <th>{t.admin.role}</th>
              <th>{t.admin.kind}</th>
              <th>{t.admin.created}</th>
              <th>{t.admin.used}</th>
              <th>
                  <span class="unseen">{t.admin.acts}</span>
                </th>
            </tr>
          </thead>
          <tbody>
            {reading.value.value?.tokens.map((token) => (
              <tr key={token.id}>
                <td>{reveal(token.name)}</td>
                <td>{token.role}</td>
                <td>{token.kind}</td>
                <td>{moment(token.created_at)}</td>
                <td>{token.last_used_at ? moment(token.last_used_at) : t.admin.never}</td>
                <td>
                  <button type="button" class="danger quiet" onClick={() => void reading.act(() => ask("DELETE", `/api/tokens/${encodeURIComponent(token.id)}`))}>
                    {t.admin.revoke}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault();
          void show(async () => (await post<MadeToken>("/api/tokens", { name: name.value, role: role.value })).secret);
        }}
      >
        <h2>{t.admin.newToken}</h2>
        <div class="two">
          <label class="field">
            <span>{t.admin.name}</span>
            <input required value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>{t.admin.role}</span>
            <select value={role.value} onChange={(event) => (role.value = event.currentTarget.value)}>
              {ROLES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        </div>
        <div class="row-of-buttons">
          <button type="submit" class="primary">{t.admin.newToken}</button>
          <button type="button" title={t.admin.linkSays} onClick={() => void show(async () => (await post<Link>("/api/login-link")).link)}>
            {t.admin.link}
          </button>
        </div>
      </form>
    </>
  );
}
