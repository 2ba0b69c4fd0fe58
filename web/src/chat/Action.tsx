/** An action of Claude: a quiet line that unfolds to its input and output; a sub-agent's own actions are inside. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Card } from "../cards/Card";
import { restOf } from "../cards/Evidence";
import { isJoined } from "../feed/joining";
import type { Ask, ItemOf } from "../feed/model";
import type { ActionEntry, TimelineEntry } from "../feed/timeline";
import { Diff } from "../parts/Diff";
import { Machine, Unfolds } from "../parts/Folded";
import { Icon, type IconName } from "../parts/Icons";
import { askOf, isMe, sessions } from "../store/desk";
import { fetchItem } from "../store/timelines";
import { fileOf, nearby } from "../text/paths";
import { reveal, revealExactly } from "../text/reveal";
import { span } from "../text/times";
import { t } from "../texts";
import { changeOf } from "./change";
import { Denied } from "./Denied";
import { Entries } from "./Entry";
import { ShownPictures } from "./ShownPictures";

/** More of one result aren't loaded. */
const MOST_PICTURES = 20;

export function Action({ entry }: { entry: ActionEntry }) {
  const { started, ended } = entry;
  // While a card stands for it, or if the card's line says everything, the action shows nothing.
  if (entry.ask !== null && !isShown(entry)) return null;
  const failed = ended?.ok === false;
  const state = stateOf(entry);
  const took = ended && entry.ask === null ? span(Date.parse(ended.at) - Date.parse(started.at)) : "";
  const ask = entry.ask === null ? undefined : askOf(entry.ask);
  const directory = started.session === null ? null : (sessions.peek().get(started.session)?.directory ?? null);
  return (
    <div class={`action${failed ? " failed" : ""}${ended ? "" : " running"}`}>
      <Unfolds
        open={false}
        title={
          <>
            <Icon name={iconOf(entry)} />
            <ActionTitle entry={entry} directory={directory} />
            <Size entry={entry} ask={ask} />
            {entry.editor !== null && !ask && <span class="quiet-text"> {t("page.chat.edited_by", { name: reveal(entry.editor) })}</span>}
            {ask && <span class="quiet-text action-allowed"> · {briefOf(ask)}</span>}
            <span class="action-state">
              {!failed && ended ? <span class="unseen">{state}</span> : state}
              {took && took !== "0 s" ? ` ${took}` : ""}
            </span>
          </>
        }
      >
        {() => <Details entry={entry} directory={directory} />}
      </Unfolds>
      {entry.denial && <Denied entry={entry} denial={entry.denial} />}
      {entry.inside.length > 0 && <Inside entries={entry.inside} running={!ended} />}
    </div>
  );
}

/** How large the change was: as the card measured it, or from the tool's input. What was edited is neither. */
function Size({ entry, ask }: { entry: ActionEntry; ask: Ask | undefined }) {
  const size = entry.editor === null ? ask?.card.size || entry.started.size : "";
  if (!size || entry.ended?.ok === false) return null;
  return (
    <span class="action-size">
      {" "}
      {size.split(" ").map((part) => (
        <span key={part} class={part.startsWith("+") ? "added" : part.startsWith("−") ? "removed" : undefined}>
          {part}{" "}
        </span>
      ))}
    </span>
  );
}

/** Who allowed it, in the hub's words. */
function briefOf({ card: { outcome }, settlement }: Ask): string {
  const by = settlement?.state === "answered" ? settlement.by : null;
  return (by && isMe(by) ? outcome?.yours_brief : outcome?.brief) ?? "";
}

function stateOf({ ended, denial, checking }: ActionEntry): string {
  if (denial) return t("page.chat.was_denied");
  if (ended) return ended.ok ? t("page.chat.done") : t("page.chat.failed");
  return checking ? t("page.chat.checking") : t("page.chat.running");
}

/** What was done, and to what: by the hub's verb, or else by its title alone. */
function ActionTitle({ entry: { started, traits, denial }, directory }: { entry: ActionEntry; directory: string | null }) {
  const { title, kind, input } = started;
  const subject = traits.subject.map((name) => input[name]).find((each) => typeof each === "string" && each) as string | undefined;
  return (
    <span class="action-title">
      {traits.verb && !denial && <span class="verb">{traits.verb} </span>}
      {kind === "note" || traits.kind === "agent" ? <span class="verb">{reveal(title)}</span> : <code>{revealExactly(nearby(subject ?? title, directory))}</code>}
    </span>
  );
}

function Inside({ entries, running }: { entries: readonly TimelineEntry[]; running: boolean }) {
  return (
    <Unfolds title={t("page.chat.sub_agent", { count: entries.length })} tag="sub-agent" open={running}>
      {() => <Entries entries={entries} />}
    </Unfolds>
  );
}

function Details({ entry, directory }: { entry: ActionEntry; directory: string | null }) {
  const { started, traits, ended } = entry;
  const command = started.input["command"];
  return (
    <>
      <ActionChange entry={entry} directory={directory} />
      {typeof command === "string" && <Machine text={command} label={t("page.chat.input")} />}
      {typeof command !== "string" && !changeOf(traits, started.input) && <Machine text={JSON.stringify(started.input, null, 2)} most={10} label={t("page.chat.input")} />}
      {ended && <Result ended={ended} />}
      {entry.ask !== null && <Request id={entry.ask} />}
    </>
  );
}

/** The request that this action waited for: who answered, from where and when. It unfolds again. */
function Request({ id }: { id: string }) {
  const ask = askOf(id);
  return ask ? <Card ask={ask} where="chat" /> : null;
}

/** What was changed: as the card showed it, or from the tool's input. */
function ActionChange({ entry, directory }: { entry: ActionEntry; directory: string | null }) {
  const { traits } = entry;
  const { input } = entry.started;
  const ask = entry.ask === null ? undefined : askOf(entry.ask);
  const answer = ask?.settlement?.state === "answered" ? ask.settlement.answer : null;
  const edited = answer && "allow" in answer && answer.allow ? answer.input : undefined;
  const path = nearby(fileOf(traits, input), directory);
  const shown = ask?.card.evidence.find(({ kind }) => kind === "diff");
  if (ask?.kind === "permission" && ask.body.diff !== null && !edited)
    return <Diff diff={shown?.text ?? ask.body.diff} facts={shown?.facts} note={ask.body.diff_note} path={path} {...(shown && restOf(ask, shown))} />;
  return <OwnChange entry={entry} input={edited ?? input} path={path} />;
}

/** From the tool's input. If that is cut, all of it is fetched first. */
export function OwnChange({ entry: { started, traits }, input, path, whole: unfolded = false }: { entry: ActionEntry; input: Record<string, unknown>; path: string; whole?: boolean }) {
  const whole = useSignal<Record<string, unknown> | null>(null);
  const cut = started.cut === true && input === started.input;
  useEffect(() => {
    if (cut) void fetchItem(started).then((item) => (whole.value = item?.type === "action.started" || item?.type === "action.changed" ? item.input : null));
  }, [cut]);
  const shown = cut ? whole.value : input;
  const rows = useMemo(() => shown && changeOf(traits, shown), [shown]);
  if (!shown) return changeOf(traits, input) && <p class="note">{t("page.loading")}</p>;
  return rows && <Diff diff={rows} note={rows.length ? "" : t("page.diff.empty")} path={path} numbered={false} whole={unfolded} />;
}

function Result({ ended }: { ended: ItemOf<"action.ended"> }) {
  return (
    <>
      {ended.output && <Machine text={ended.output} most={24} label={t("page.chat.output")} />}
      {!ended.output && !ended.images && <p class="quiet-text">{t("page.chat.no_output")}</p>}
      {ended.images > 0 && <ShownPictures session={ended.session} of={`actions/${encodeURIComponent(ended.action)}`} count={Math.min(ended.images, MOST_PICTURES)} />}
      {ended.omitted > 0 && <p class="quiet-text">{t("page.chat.omitted", { count: ended.omitted })}</p>}
    </>
  );
}

/** A result whose start is in history that is not loaded. */
export function Output({ ended }: { ended: ItemOf<"action.ended"> }) {
  return (
    <div class={`action${ended.ok ? "" : " failed"}`}>
      <Unfolds
        title={
          <>
            <Icon name={ended.kind} />
            <span class="action-title">
              <code>{revealExactly(ended.title)}</code>
            </span>
          </>
        }
      >
        {() => <Result ended={ended} />}
      </Unfolds>
    </div>
  );
}

/** How many files were read, and which. */
export function Reads({ run }: { run: readonly TimelineEntry[] }) {
  const actions = run.filter((entry): entry is ActionEntry => entry.kind === "action");
  const files = actions.every((entry) => entry.traits.kind === "read");
  return (
    <div class="action">
      <Unfolds
        title={
          <>
            <Icon name="read" />
            <span class="action-title">
              <span class="verb">{files ? t("page.chat.reads", { count: run.length }) : t("page.chat.searches", { count: run.length })}</span>
            </span>
          </>
        }
      >
        {() => actions.map((entry) => <Action key={entry.key} entry={entry} />)}
      </Unfolds>
    </div>
  );
}

function isShown(entry: ActionEntry): boolean {
  const ask = entry.ask === null ? undefined : askOf(entry.ask);
  return entry.traits.kind !== "question" && entry.traits.kind !== "plan" && isJoined(ask);
}

function iconOf(entry: ActionEntry): IconName {
  const { kind } = entry.traits;
  return kind === "agent" || kind === "read" ? kind : entry.started.kind;
}
