/** Rules: standing answers, who made them, how often they answered, and how to revoke them. */
import type { Asks, Rule, Rules } from "../generated/api";
import type { Ask } from "../feed/model";
import { Confirm } from "../parts/Confirm";
import { Quoted } from "../parts/Quoted";
import { Table } from "../parts/Table";
import { machineLabel } from "../parts/MachineName";
import { may, projects, sessionOf } from "../store/desk";
import { ask, post } from "../store/http";
import { pathOf } from "../store/place";
import { drafting } from "../rules/drafting";
import { NO_RULE, subjectOf, toRules } from "../rules/draft";
import { RuleForm } from "../rules/RuleForm";
import { modeName } from "../sessions/modes";
import { reveal } from "../text/reveal";
import { moment } from "../text/times";
import { t } from "../texts";
import { Loading, Trouble, useResource, type Resource } from "./read";
import { usesOf, type Use } from "./uses";

const ASKED = 12;

export function RulesPage() {
  const reading = useResource<Rules>("/api/rules");
  const recent = useResource<Asks>("/api/asks?texts=excerpt&order=newest&limit=500");
  const asks = recent.value.value?.asks ?? [];
  const list = reading.value.value?.rules;
  return (
    <>
      <p class="lead">{t("admin.rules.hint")}</p>
      <Trouble reading={reading} />
      {!list && <Loading reading={reading} />}
      {list?.length === 0 && <p class="empty">{t("admin.rules.none")}</p>}
      {list && list.length > 0 && <RuleList rules={list} uses={usesOf(asks)} reading={reading} />}
      {may("admin") && (
        <section class="panel stack">
          <h2>{t("admin.rules.new")}</h2>
          <RuleForm
            first={NO_RULE}
            make={(draft) =>
              reading.act(async () => {
                for (const rule of toRules(draft, Date.now())) await post("/api/rules", rule);
              })
            }
          />
        </section>
      )}
      <RecentlyAsked asks={asks.filter((each) => each.kind === "permission" && !isRuled(each)).slice(0, ASKED)} />
    </>
  );
}

function RuleList({ rules, uses, reading }: { rules: readonly Rule[]; uses: ReadonlyMap<string, Use>; reading: Resource<Rules> }) {
  const wanted = decodeURIComponent(location.hash.slice(1)).split(", ");
  return (
    <Table label={t("page.admin.page.rules")} heads={[t("admin.rules.decision"), t("admin.rules.subject"), t("admin.rules.where"), t("admin.created_by"), t("admin.rules.uses")]} acts>
      {rules.map((rule) => (
        <tr key={rule.id} class={wanted.includes(rule.id) ? "wanted" : ""} ref={(row) => void (wanted.includes(rule.id) && row?.scrollIntoView({ block: "nearest" }))}>
          <td>
            <span class={`decision ${rule.decision}`}>{t(`admin.rules.decisions.${rule.decision}`)}</span>
          </td>
          <td class="detail">
            <Quoted text={subjectOf(rule)} />
            {rule.mode && <span class="quiet-text"> {t("admin.rules.in_mode", { mode: modeName(rule.mode) })}</span>}
            {rule.message && <span class="quiet-text"> “{reveal(rule.message)}”</span>}
          </td>
          <td>{whereOf(rule)}</td>
          <td>
            {madeBy(rule)} <span class="quiet-text nowrap">{rule.made_at && moment(rule.made_at)}</span>
            {rule.expires_at && <span class="quiet-text"> {t("admin.rules.expires", { date: moment(rule.expires_at) })}</span>}
          </td>
          <td class="nowrap">{useOf(uses.get(rule.id))}</td>
          <td>
            {rule.source === "person" && may("admin") && (
              <Confirm label={t("admin.revoke")} really={t("admin.revoke_confirm")} act={() => void reading.act(() => ask("DELETE", `/api/rules/${encodeURIComponent(rule.id)}`))} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Why people were asked recently, with a link to a rule that avoids it. */
function RecentlyAsked({ asks }: { asks: readonly Ask[] }) {
  if (!asks.length) return null;
  return (
    <section class="panel stack">
      <h2>{t("admin.rules.asked")}</h2>
      <ul class="asked-list">
        {asks.map((each) => (
          <AskedRow key={each.id} ask={each} />
        ))}
      </ul>
    </section>
  );
}

function AskedRow({ ask: each }: { ask: Ask }) {
  const { card } = each;
  const session = sessionOf(each.session);
  return (
    <li>
      <p>
        <strong>
          <Quoted text={card.headline} />
        </strong>{" "}
        <span class="quiet-text">
          {session && (
            <a data-inside href={pathOf({ view: "session", id: session.id })}>
              {reveal(session.title)}
            </a>
          )}{" "}
          {moment(each.opened_at)}
        </span>
      </p>
      <p class="quiet-text">
        <Quoted text={card.why || t("page.card.no_why")} />
      </p>
      {may("admin") && (
        <button type="button" class="small" onClick={() => (drafting.value = each)}>
          {t("page.card.make_rule")}
        </button>
      )}
    </li>
  );
}

function isRuled(each: Ask): boolean {
  return each.settlement?.state === "answered" && each.settlement.by.kind === "rule";
}

function useOf(use: Use | undefined): string {
  return use ? t("admin.rules.used", { count: use.count, date: moment(use.last) }) : "–";
}

function madeBy(rule: Rule): string {
  if (rule.source === "settings") return t("admin.rules.from_settings");
  return rule.source === "project" ? t("admin.rules.from_project") : reveal(rule.made_by);
}

function whereOf(rule: Rule): string {
  if (rule.session) return t("admin.session", { name: reveal(sessionOf(rule.session)?.title ?? rule.session) });
  if (!rule.project) return t("admin.rules.everywhere");
  const known = projects.value.find((project) => project.id === rule.project)?.name;
  const name = t("admin.project", { name: reveal(known ?? rule.project.split("/").at(-1) ?? rule.project) });
  const machine = rule.machine ? machineLabel({ machine: rule.machine }) : "";
  return machine ? `${name} · ${machine}` : name;
}
