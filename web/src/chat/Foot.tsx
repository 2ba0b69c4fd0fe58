/** Below the composer: how Claude works from here on, and what was used so far. */
import { useComputed } from "@preact/signals";
import type { ItemOf, Session } from "../feed/model";
import { awayReason } from "../parts/MachineName";
import { Menu } from "../parts/Menu";
import { Picker, type PickerChoice } from "../parts/Picker";
import { abilitiesOf } from "../sessions/abilities";
import { MODELS, modeName, modesFor, NEVER_ASKS } from "../sessions/modes";
import { usageInWords } from "../sessions/usage";
import { now } from "../store/clock";
import { may } from "../store/desk";
import { post } from "../store/http";
import { conversation } from "../store/timelines";
import { reveal } from "../text/reveal";
import { dollars, percent } from "../text/times";
import { t, textOr } from "../texts";
import { contextOf, tokensOf } from "./context";

/** Does something with the session; errors are shown above the composer. */
type Run = (work: Promise<unknown>) => void;

interface FootProps {
  session: Session;
  run: Run;
  anotherModel: () => void;
}

export function Foot({ session, run, anotherModel }: FootProps) {
  const change = (what: "mode" | "model", value: string) => run(post(`/api/sessions/${encodeURIComponent(session.id)}/${what}`, { [what]: value }));
  return (
    <div class="composer-foot">
      {!session.ended && may("approver") && (
        <>
          <ModePicker session={session} change={(mode) => change("mode", mode)} />
          <ModelPicker session={session} change={(model) => change("model", model)} more={anotherModel} />
        </>
      )}
      <span class="spring" />
      <Meter session={session} />
    </div>
  );
}

/** What the hub confirmed is shown, not what was chosen. */
function ModePicker({ session, change }: { session: Session; change: (mode: string) => void }) {
  const away = awayReason(session);
  const choices = modesFor(session.mode, session.phase !== "queued").map(
    (mode): PickerChoice => ({ value: mode, name: modeName(mode), detail: textOr(`compose.mode_detail.${mode}`, ""), danger: mode === NEVER_ASKS }),
  );
  return (
    <Picker
      label={t("compose.mode", { name: modeName(session.mode) })}
      shown={modeName(session.mode)}
      choices={choices}
      value={session.mode}
      choose={change}
      disabled={!may("admin") || away !== undefined}
      title={away}
    />
  );
}

function ModelPicker({ session, change, more }: { session: Session; change: (model: string) => void; more: () => void }) {
  const away = awayReason(session);
  const offered = abilitiesOf(`session=${encodeURIComponent(session.id)}`).value?.models ?? [];
  const choices = offered.length
    ? offered.map(({ value, name, description }): PickerChoice => ({ value, name: name || value, detail: description }))
    : MODELS.map((value): PickerChoice => ({ value, name: value }));
  const chosen = offered.find(({ value, resolved }) => session.model !== null && (value === session.model || resolved === session.model));
  const name = chosen?.name || session.model || t("compose.default_model");
  return (
    <Picker
      label={t("compose.model", { name: reveal(name) })}
      shown={reveal(name)}
      choices={choices}
      value={chosen?.value ?? session.model ?? ""}
      choose={change}
      disabled={!may("admin") || away !== undefined}
      title={away ?? t("compose.model_hint")}
      more={{ name: t("compose.another_model"), act: more }}
    />
  );
}

const NEARLY = 0.8;

/** Context, tokens, cost and plan limits. The short form is on the button, all of it behind it. */
function Meter({ session }: { session: Session }) {
  const talk = conversation(session.id);
  const turn = useComputed(() => lastTurn(talk.blocks.value)).value;
  const limits = useComputed(() =>
    session.usage
      .map((limit) => usageInWords(limit, now.value))
      .filter(Boolean)
      .join("\n"),
  ).value;
  const share = turn ? contextOf(turn) : null;
  if (!share && !session.cost_usd && !limits) return null;
  const short = share?.part != null ? t("compose.meter.short", { percent: percent(share.part) }) : session.cost_usd ? dollars(session.cost_usd) : t("compose.meter.usage");
  const nearly = (share?.part ?? 0) >= NEARLY;
  return (
    <Menu
      label={t("compose.meter.label")}
      up
      text={
        <>
          {share?.part != null && <span class={nearly ? "meter nearly" : "meter"} style={{ "--part": String(Math.min(1, share.part)) }} />}
          {short}
        </>
      }
    >
      {() => (
        <div class="meter-lines">
          {turn && <ContextLines turn={turn} nearly={nearly} />}
          <p>{t("compose.meter.cost", { cost: dollars(session.cost_usd) })}</p>
          {limits.split("\n").map((line) => line && <p key={line}>{line}</p>)}
        </div>
      )}
    </Menu>
  );
}

function ContextLines({ turn, nearly }: { turn: ItemOf<"turn.ended">; nearly: boolean }) {
  const share = contextOf(turn);
  const tokens = tokensOf(turn);
  return (
    <>
      {share && (
        <p>{share.part === null ? t("compose.meter.context_only", { used: share.used }) : t("compose.meter.context", { used: share.used, limit: share.limit, percent: percent(share.part) })}</p>
      )}
      {nearly && <p class="needs-text">{t("compose.meter.full")}</p>}
      {tokens && <p>{t("compose.meter.turn", tokens)}</p>}
    </>
  );
}

function lastTurn(blocks: ReturnType<typeof conversation>["blocks"]["value"]): ItemOf<"turn.ended"> | null {
  for (let block = blocks.length - 1; block >= 0; block -= 1) {
    const entries = blocks[block] ?? [];
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const entry = entries[at];
      if (entry?.kind === "turn") return entry.item;
    }
  }
  return null;
}
