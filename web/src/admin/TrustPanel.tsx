/** Which directories are trusted, by whom, and how to revoke it. */
import type { Trusts } from "../generated/api";
import { Confirm } from "../parts/Confirm";
import { MachineName } from "../parts/MachineName";
import { Table } from "../parts/Table";
import { may } from "../store/desk";
import { ask } from "../store/http";
import { reveal, revealExactly } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import { Trouble, useResource } from "./read";

export function TrustPanel() {
  const reading = useResource<Trusts>("/api/trust");
  const list = reading.value.value?.trust;
  if (!list?.length) return <Trouble reading={reading} />;
  return (
    <section class="panel stack">
      <h2>{t("admin.trust.title")}</h2>
      <p class="quiet-text">{t("admin.trust.hint")}</p>
      <Trouble reading={reading} />
      <Table label={t("admin.trust.title")} heads={[t("admin.trust.directory"), t("admin.trust.decision"), t("admin.created_by")]} acts>
        {list.map((each) => (
          <tr key={`${each.machine} ${each.directory}`}>
            <td>
              <span class="mono">{revealExactly(each.directory)}</span> <MachineName of={{ machine: each.machine ?? "" }} />
            </td>
            <td>{t(`admin.trust.level.${each.level}`)}</td>
            <td>
              {reveal(each.made_by)} <span class="quiet-text nowrap">{moment(each.made_at)}</span>
            </td>
            <td>
              {may("admin") && (
                <Confirm
                  label={t("admin.revoke")}
                  really={t("admin.revoke_confirm")}
                  act={() => void reading.act(() => ask("DELETE", `/api/trust?${new URLSearchParams({ directory: each.directory, ...(each.machine ? { machine: each.machine } : {}) })}`))}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
