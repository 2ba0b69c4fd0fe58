/** A new session: where, what to do, in which mode, with which model. */
import { signal, useSignal, type Signal } from "@preact/signals";
import { PickPictures, Pictures, usePictures, type Attachments } from "../chat/Pictures";
import type { MachineSummary, Project, Session } from "../generated/api";
import { Alert } from "../parts/Alert";
import { Dialog } from "../parts/Dialog";
import { Field, SubmitForm, Select, Suggestions, TextArea, TextField } from "../parts/Form";
import { projects, sessions } from "../store/desk";
import { dropDraft, useDraft } from "../store/drafts";
import { explainError, post } from "../store/http";
import { byName, machineOf, placesOf, several } from "../store/machines";
import { go, pathOf } from "../store/place";
import { reveal } from "../text/reveal";
import { t, textOr } from "../texts";
import { MODELS, ModeChoices, NEVER_ASKS } from "./modes";

export const starting = signal(false);

/** What is set before a session starts, besides its message. */
interface SessionChoices {
  /** A project's id, a directory, or nothing: then `path` says where. */
  project: Signal<string>;
  path: Signal<string>;
  /** A machine's ID, `any`, or nothing: then it is decided by where the project is. */
  machine: Signal<string>;
  mode: Signal<string>;
  model: Signal<string>;
}

export function NewSessionDialog() {
  const [prompt, setPrompt] = useDraft("new.say", "");
  const choices: SessionChoices = { project: useSignal(projects.value[0]?.id ?? otherDirectories()[0] ?? ""), path: useSignal(""), machine: useSignal(""), mode: useSignal(""), model: useSignal("") };
  const pictures = usePictures();
  const { busy, trouble, start } = useStart(prompt, choices, pictures);
  return (
    <Dialog title={t("page.new_session.title")} close={() => (starting.value = false)}>
      <SubmitForm
        class="stack"
        submit={start}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
        {...pictures.drop}
      >
        <PromptField prompt={prompt} setPrompt={setPrompt} pictures={pictures} />
        <PlaceField choices={choices} />
        {several.value && <MachineField choices={choices} />}
        <ModeAndModel choices={choices} />
        <Alert text={trouble.value} />
        <div class="row-of-buttons">
          <button type="submit" class="primary" disabled={busy.value}>
            {t("page.new_session.button")} <kbd aria-hidden="true">Ctrl Enter</kbd>
          </button>
          <PickPictures pictures={pictures}>{t("page.chat.attach")}</PickPictures>
        </div>
      </SubmitForm>
    </Dialog>
  );
}

/** Starts it once, and goes there; or says why not. */
function useStart(prompt: string, choices: SessionChoices, pictures: Attachments) {
  const { project, path, mode, model } = choices;
  const trouble = useSignal<string | null>(null);
  const busy = useSignal(false);
  const start = async () => {
    if (busy.value) return;
    busy.value = true;
    trouble.value = null;
    try {
      const where = project.value || path.value.trim();
      const settings = { mode: mode.value || null, model: model.value.trim() || null, machine: several.value ? machineIn(choices) || null : null };
      const session = await post<Session>("/api/sessions", { say: prompt, project: where, ...settings, images: pictures.encoded() });
      dropDraft("new.say");
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

function PromptField({ prompt, setPrompt, pictures }: { prompt: string; setPrompt: (text: string) => void; pictures: Attachments }) {
  return (
    <>
      <Field label={t("page.new_session.prompt")}>
        <TextArea rows={5} required={!pictures.images.value.length} autofocus value={prompt} placeholder={t("page.new_session.prompt_hint")} onPaste={pictures.paste} change={setPrompt} />
      </Field>
      <Pictures pictures={pictures} />
    </>
  );
}

function PlaceField({ choices: { project, path } }: { choices: SessionChoices }) {
  const known = projects.value.map((each) => [each.id, labelOf(each)] as const);
  const others = otherDirectories().map((each) => [each, reveal(each)] as const);
  return (
    <>
      <Field label={t("page.new_session.project")}>
        <Select value={project.value} change={(value) => (project.value = value)} options={[...known, ...others, ["", t("page.new_session.another_directory")]]} />
      </Field>
      {project.value === "" && (
        <Field label={t("page.new_session.path")}>
          <TextField class="mono" required value={path.value} placeholder="/home/me/project" change={(text) => (path.value = text)} />
        </Field>
      )}
    </>
  );
}

/** A project's name, with its directory here or on the first machine that has one. */
function labelOf(project: Project): string {
  const path = project.path || project.elsewhere?.[0]?.path;
  return path ? `${reveal(project.name)} (${reveal(path)})` : reveal(project.name);
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

function ModeAndModel({ choices: { mode, model } }: { choices: SessionChoices }) {
  return (
    <>
      <div class="two">
        <Field label={t("page.new_session.mode")}>
          <Select value={mode.value} change={(value) => (mode.value = value)}>
            <option value="">{t("page.new_session.project_default")}</option>
            <ModeChoices />
          </Select>
        </Field>
        <Field label={t("page.new_session.model")}>
          <TextField value={model.value} list="models" placeholder={t("page.new_session.project_default")} change={(text) => (model.value = text)} />
          <Suggestions id="models" values={MODELS} />
        </Field>
      </div>
      {mode.value && <p class={mode.value === NEVER_ASKS ? "note trouble" : "note"}>{textOr(`page.mode.detail.${mode.value}`, "")}</p>}
    </>
  );
}

/** Where sessions without a project ran. */
function otherDirectories(): string[] {
  const known = projects.value.flatMap((project) => [project.path, ...(project.elsewhere ?? []).map((place) => place.path)]);
  return [...new Set([...sessions.value.values()].map((session) => session.directory))].filter((each) => !known.includes(each));
}
