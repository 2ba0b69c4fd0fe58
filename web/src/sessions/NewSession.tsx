/** A new session: where, what to do, in which mode, with which model. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type CompletionSource, useCompletion } from "../chat/completion";
import { sendsMessage } from "../chat/sending";
import { PickPictures, Pictures, usePictures, type Attachments } from "../chat/Pictures";
import type { MachineSummary, ModelChoice, Session, Setup } from "../generated/api";
import { Alert } from "../parts/Alert";
import { Dialog } from "../parts/Dialog";
import { Field, SubmitForm, Select, TextField } from "../parts/Form";
import { projects, sessions } from "../store/desk";
import { dropDraft, useDraft } from "../store/drafts";
import { ask, explainError, post } from "../store/http";
import { byName, machineOf, placesOf, several } from "../store/machines";
import { go, pathOf } from "../store/place";
import { reveal } from "../text/reveal";
import { t, textOr } from "../texts";
import { abilitiesOf } from "./abilities";
import { Checks, type Checking } from "./Checks";
import { DirectoryPicker } from "./DirectoryPicker";
import { MODELS, ModeChoices, NEVER_ASKS } from "./modes";
import { wholePath, type KnownPlaces } from "./places";
import { otherDirectories, useOwnDirectory } from "./recent";
import { starting } from "./starting";
import "./startTexts";

/** How many directories of earlier sessions are offered. */
const RECENT = 8;

/** What is set before a session starts, besides its message. */
interface SessionChoices {
  /** A project's ID or a directory that was chosen, or nothing: then `path` says where. */
  project: Signal<string>;
  /** What is in the field. */
  path: Signal<string>;
  /** A machine's ID, `any`, or nothing: then it is decided by where the project is. */
  machine: Signal<string>;
  mode: Signal<string>;
  model: Signal<string>;
}

const IDEAS = ["explain", "test", "review"] as const;

export function NewSessionDialog() {
  const first = useMemo(() => sessions.peek().size === 0, []);
  const [prompt, setPrompt] = useDraft("new.say", "");
  const choices: SessionChoices = { project: useSignal(""), path: useSignal(""), machine: useSignal(""), mode: useSignal(""), model: useSignal("") };
  const pictures = usePictures("new.say");
  const checking = useChecking(first);
  const { busy, trouble, start } = useStart(prompt, choices, pictures, checking.found?.home ?? "");
  return (
    <Dialog title={t(first ? "start.first_title" : "start.title")} close={() => (starting.value = false)}>
      <SubmitForm class="stack" submit={start} {...pictures.drop}>
        {first && <Checks checking={checking} />}
        <PromptField prompt={prompt} setPrompt={setPrompt} pictures={pictures} send={start} source={sourceOf(choices, checking.found?.home ?? "")} />
        {first && <Ideas choose={setPrompt} />}
        <PlaceField choices={choices} setup={checking.found} />
        {several.value && <MachineField choices={choices} />}
        <ModeAndModel choices={choices} />
        <Alert text={trouble.value} />
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value}>
            {t("start.button")} <kbd aria-hidden="true">Enter</kbd>
          </button>
          <PickPictures pictures={pictures}>{t("compose.attach")}</PickPictures>
        </div>
      </SubmitForm>
    </Dialog>
  );
}

/** Where things are on the hub's machine; before the first session, also whether Claude can work there. */
function useChecking(first: boolean): Checking {
  const found = useSignal<Setup | null>(null);
  const trouble = useSignal<string | null>(null);
  const again = async () => {
    found.value = trouble.value = null;
    try {
      // Claude Code may take a while to say anything.
      found.value = await ask<Setup>("GET", "/api/setup", undefined, 60_000);
    } catch (error) {
      trouble.value = explainError(error);
    }
  };
  useEffect(() => void (first && again()), []);
  return { found: found.value, trouble: trouble.value, again: () => void again() };
}

/** Starts it once, and goes there; or says why not. */
function useStart(prompt: string, choices: SessionChoices, pictures: Attachments, home: string) {
  const { project, path, mode, model } = choices;
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const start = async () => {
    if (busy.value) return;
    busy.value = true;
    trouble.value = null;
    try {
      const where = project.value || wholePath(path.value, home);
      const settings = { mode: mode.value || null, model: model.value.trim() || null, machine: several.value ? machineIn(choices) || null : null };
      const session = await post<Session>("/api/sessions", { say: pictures.withText(prompt), project: where, ...settings, images: pictures.encoded() });
      dropDraft("new.say");
      pictures.clear();
      starting.value = false;
      go(pathOf({ view: "session", id: session.id }));
    } catch (error) {
      trouble.value = explainError(error);
    } finally {
      busy.value = false;
    }
  };
  return { busy, trouble, start };
}

interface PromptProps {
  prompt: string;
  setPrompt: (text: string) => void;
  pictures: Attachments;
  send: () => void;
  source: CompletionSource;
}

function PromptField({ prompt, setPrompt, pictures, send, source }: PromptProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const completion = useCompletion(source, field, setPrompt);
  return (
    <>
      <div class="prompt">
        <Field label={t("start.prompt")}>
          <textarea
            ref={field}
            rows={4}
            required={!pictures.any}
            autofocus
            value={prompt}
            placeholder={t("start.prompt_hint")}
            onPaste={pictures.paste}
            onKeyDown={(event) => !completion.press(event) && sendsMessage(event) && submitFrom(event, send)}
            onInput={(event) => {
              setPrompt(event.currentTarget.value);
              completion.typed();
            }}
            {...completion.attributes}
          />
        </Field>
        {completion.list}
      </div>
      <Pictures pictures={pictures} />
    </>
  );
}

/** What Claude offers there, if that is known from earlier sessions; files only of this hub's machine. */
function sourceOf(choices: SessionChoices, home: string): CompletionSource {
  const chosen = projects.value.find((each) => each.id === choices.project.value);
  const directory = chosen ? chosen.path : wholePath(choices.path.value, home);
  const place = encodeURIComponent(directory);
  const machine = several.value ? byName.value.find((each) => each.id === machineIn(choices))?.id : undefined;
  return { abilities: `${new URLSearchParams({ directory, machine: machine ?? "" })}`, files: directory && isHere(choices) ? `/api/directories/files?path=${place}&q=` : null };
}

/** Whether it would start on this hub's machine, as far as that is known. */
function isHere(choices: SessionChoices): boolean {
  return !several.value || machineIn(choices) === "any" || (byName.value.find((each) => each.id === machineIn(choices))?.here ?? true);
}

/** With the browser's own check of the fields. */
function submitFrom(event: KeyboardEvent, send: () => void): void {
  event.preventDefault();
  const form = (event.currentTarget as HTMLTextAreaElement).form;
  if (form) form.requestSubmit();
  else send();
}

function Ideas({ choose }: { choose: (text: string) => void }) {
  return (
    <p class="ideas">
      <span class="quiet-text">{t("start.ideas.label")}</span>
      {IDEAS.map((idea) => (
        <button key={idea} type="button" onClick={() => choose(t(`start.ideas.${idea}`))}>
          {t(`start.ideas.${idea}`)}
        </button>
      ))}
    </p>
  );
}

/** Known directories come from the page; the hub's own is asked for once. */
function PlaceField({ choices: { project, path, machine }, setup }: { choices: SessionChoices; setup: Setup | null }) {
  const own = useOwnDirectory(setup?.directory);
  const chosen = several.value ? byName.value.find((each) => each.id === machine.value && !each.here) : undefined;
  const elsewhere = chosen?.id ?? "";
  const known: KnownPlaces = useMemo(
    () => ({
      projects: projects.value.map((each) => ({ id: each.id, name: each.name, path: each.path || (each.elsewhere?.[0]?.path ?? "") })),
      recent: otherDirectories(elsewhere).slice(0, RECENT),
      own: elsewhere ? "" : own.value,
      home: elsewhere ? "" : (setup?.home ?? ""),
    }),
    [projects.value, own.value, setup, elsewhere],
  );
  useEffect(() => {
    if (path.value) return;
    const first = known.projects[0];
    project.value = first?.id ?? "";
    path.value = (first ? first.path || first.name : undefined) ?? known.recent[0] ?? known.own;
  }, [known]);
  return <DirectoryPicker label={t("start.place.label")} text={path} choose={(value) => (project.value = value)} known={known} machine={elsewhere} />;
}

function MachineField({ choices }: { choices: SessionChoices }) {
  const found = candidates(choices);
  const options = found.map((each) => [each.id, nameOf(each)] as const);
  if (!found.length) return <p class="note trouble">{t("page.machine.no_directory")}</p>;
  return (
    <Field label={t("page.machine.label")}>
      <Select value={machineIn(choices)} change={(value) => (choices.machine.value = value)} options={canChooseAny(choices, found) ? [["any", t("page.machine.any")], ...options] : options} />
    </Field>
  );
}

function nameOf(machine: MachineSummary): string {
  const name = reveal(machine.name);
  if (machine.away_since) return t("page.machine.starts_later", { name });
  return machine.here ? t("page.machine.here", { name }) : name;
}

/** The machines that have the directory, and run sessions at all. */
function candidates({ project }: SessionChoices): MachineSummary[] {
  const all = byName.value.filter((each) => each.limit > 0);
  if (project.value === "") return all;
  const known = projects.value.find((each) => each.id === project.value);
  const there = known ? new Set(placesOf(known).keys()) : new Set([...sessions.value.values()].filter((each) => each.directory === project.value).map((each) => machineOf(each)?.id ?? ""));
  return all.filter((each) => there.has(each.id));
}

/** Which of several is the least busy is decided by the hub, for a project. */
function canChooseAny({ project }: SessionChoices, found: readonly MachineSummary[]): boolean {
  return projects.value.some((each) => each.id === project.value) && found.filter((each) => !each.away_since).length > 1;
}

/** What was chosen; otherwise this hub's machine, or any. */
function machineIn(choices: SessionChoices): string {
  const found = candidates(choices);
  const any = canChooseAny(choices, found);
  const chosen = choices.machine.value;
  if ((chosen === "any" && any) || found.some((each) => each.id === chosen)) return chosen;
  const online = found.filter((each) => !each.away_since);
  return online.find((each) => each.here)?.id ?? (any ? "any" : ((online[0] ?? found[0])?.id ?? ""));
}

function ModeAndModel({ choices }: { choices: SessionChoices }) {
  const { mode, model, path } = choices;
  const own = useSignal(false);
  const machine = several.value ? byName.value.find((each) => each.id === machineIn(choices)) : undefined;
  const offered = abilitiesOf(`${new URLSearchParams({ directory: path.value, machine: machine?.id ?? "" })}`).value?.models ?? [];
  const detail = own.value ? null : offered.find((each) => each.value === model.value)?.description;
  return (
    <>
      <div class="two">
        <Field label={t("start.mode")}>
          <Select value={mode.value} change={(value) => (mode.value = value)}>
            <option value="">{t("start.project_default")}</option>
            <ModeChoices />
          </Select>
        </Field>
        <Field label={t("start.model")}>
          <ModelSelect model={model} own={own} offered={offered} />
        </Field>
      </div>
      {own.value && (
        <Field label={t("start.own_model")}>
          <TextField class="mono" required autofocus value={model.value} change={(text) => (model.value = text)} />
        </Field>
      )}
      {mode.value && <p class={mode.value === NEVER_ASKS ? "note trouble" : "note"}>{textOr(`page.mode.detail.${mode.value}`, "")}</p>}
      {detail && <p class="note">{reveal(detail)}</p>}
    </>
  );
}

const OWN = "…";

/** What Claude offers, and any other by its name. */
function ModelSelect({ model, own, offered }: { model: Signal<string>; own: Signal<boolean>; offered: readonly ModelChoice[] }) {
  const models = offered.length ? offered.map((each) => [each.value, reveal(each.name || each.value)] as const) : MODELS.map((each) => [each, each] as const);
  const change = (value: string) => {
    own.value = value === OWN;
    model.value = value === OWN ? "" : value;
  };
  return (
    <Select value={own.value ? OWN : model.value} change={change} options={[...models, [OWN, t("compose.another_model")]]}>
      <option value="">{t("start.project_default")}</option>
    </Select>
  );
}
