/** Chooses a directory: known ones by name, others by browsing. The field has the choice; the list shows where one can go from there. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { Directories } from "../generated/api";
import { explainError, get } from "../store/http";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";
import { Icon } from "../parts/Icons";
import "./startTexts";
import { isPath, knownOptions, partsOf, type KnownPlaces, type PlaceOption } from "./places";

interface PickerProps {
  label: string;
  /** What is in the field. */
  text: Signal<string>;
  /** A project's ID or a directory was chosen; empty while something else is typed. */
  choose: (value: string) => void;
  known: KnownPlaces;
  /** The machine, by its ID; empty for the hub's own. */
  machine?: string;
}

interface Browsed {
  options: readonly PlaceOption[];
  note: string;
}

const NOTHING: Browsed = { options: [], note: "" };

export function DirectoryPicker({ label, text, choose, known, machine = "" }: PickerProps) {
  const id = useId();
  const open = useSignal(false);
  const active = useSignal(-1);
  const field = useRef<HTMLInputElement>(null);
  // What was chosen is complete: the list shows everything again, not only what fits it.
  const typed = useSignal("");
  const found = useOptions(open.value, typed.value, known, machine);
  const pick = (option: PlaceOption) => {
    text.value = option.text;
    choose(option.value);
    active.value = -1;
    typed.value = option.opens ? option.text : "";
    open.value = option.opens;
    field.current?.focus();
  };
  const type = (value: string) => {
    text.value = typed.value = value;
    choose("");
    active.value = isPath(value) ? -1 : 0;
    open.value = true;
  };
  const show = () => {
    if (!open.value) typed.value = isPath(text.value) && !known.projects.some((each) => each.path === text.value) ? `${text.value.replace(/\/+$/, "")}/` : "";
    if (!open.value && !isPath(typed.value)) typed.value = "";
    open.value = true;
  };
  const press = (event: KeyboardEvent) => act(event, { open, active, options: found.options, pick, show });
  const listed = open.value && found.options.length > 0;
  return (
    <div class="field directory">
      <label for={`${id}-field`}>
        {label} <small class="quiet-text">{t("start.place.hint")}</small>
      </label>
      <input
        id={`${id}-field`}
        ref={field}
        class="mono"
        role="combobox"
        required
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={listed}
        aria-controls={listed ? id : undefined}
        aria-activedescendant={listed && active.value >= 0 ? `${id}-${active.value}` : undefined}
        value={text.value}
        onInput={(event) => type(event.currentTarget.value)}
        onClick={show}
        onBlur={() => (open.value = false)}
        onKeyDown={press}
      />
      {open.value && <List id={id} label={t("start.place.list")} found={found} active={active} pick={pick} />}
    </div>
  );
}

function List({ id, label, found, active, pick }: { id: string; label: string; found: Browsed; active: Signal<number>; pick: (option: PlaceOption) => void }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active.value]);
  return (
    <div class="completions" onPointerDown={(event) => event.preventDefault()}>
      {found.options.length > 0 && (
        <div id={id} role="listbox" aria-label={label} ref={list}>
          {found.options.map((option, at) => (
            <div key={`${option.value} ${option.detail}`} id={`${id}-${at}`} role="option" tabIndex={-1} aria-selected={at === active.value} onClick={() => pick(option)}>
              <Icon name={option.opens ? "folder" : "clock"} />
              <span class="mono">{revealExactly(option.name)}</span>
              <span class="quiet-text">{reveal(option.detail)}</span>
            </div>
          ))}
        </div>
      )}
      {found.note && <p class="quiet-text">{reveal(found.note)}</p>}
      <p class="unseen" role="status">
        {found.options.length ? t("start.place.suggestions", { count: found.options.length }) : found.note}
      </p>
    </div>
  );
}

interface Acts {
  open: Signal<boolean>;
  active: Signal<number>;
  options: readonly PlaceOption[];
  pick: (option: PlaceOption) => void;
  show: () => void;
}

/** Escape closes the list first, and then the dialog. Enter takes what is marked. */
function act(event: KeyboardEvent, { open, active, options, pick, show }: Acts): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const chosen = options[active.value];
  if (by && !open.value) show();
  else if (by && options.length) active.value = (active.value + by + options.length + (active.value < 0 && by < 0 ? 1 : 0)) % options.length;
  else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && open.value) {
    if (chosen) pick(chosen);
    else open.value = false;
  } else if (event.key === "Tab" && !event.shiftKey && open.value && chosen?.opens) pick(chosen);
  else if (event.key === "Escape" && open.value) open.value = false;
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function useOptions(open: boolean, typed: string, known: KnownPlaces, machine: string): Browsed {
  const browses = open && isPath(typed);
  const browsed = useBrowsing(browses ? typed : "", known.home, machine);
  return useMemo(() => {
    if (!open) return NOTHING;
    const words = { project: t("start.place.project"), recent: t("start.place.recent"), own: t("start.place.own"), home: t("start.place.home") };
    const own = knownOptions(known, words, typed);
    if (!browses) return { options: own, note: own.length || !typed ? "" : t("start.place.none") };
    return browsed;
  }, [open, typed, browses, browsed, known]);
}

const PAUSE = 60;

function useBrowsing(typed: string, home: string, machine: string): Browsed {
  const found = useSignal<Browsed>(NOTHING);
  useEffect(() => {
    if (!typed) return;
    let stale = false;
    const timer = setTimeout(async () => {
      const listed = await browse(typed, home, machine);
      if (!stale) found.value = listed;
    }, PAUSE);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [typed, home, machine]);
  return found.value;
}

async function browse(typed: string, home: string, machine: string): Promise<Browsed> {
  const { path, q } = partsOf(typed, home);
  try {
    const listed = await get<Directories>(`/api/directories?${new URLSearchParams({ path, q, machine })}`);
    const inside = listed.directories.map(
      ({ name, path: to, is_repository }): PlaceOption => ({ value: to, text: `${to}/`, name, detail: is_repository ? t("start.place.repository") : "", opens: true }),
    );
    const up: PlaceOption[] =
      !q && listed.parent ? [{ value: listed.parent, text: `${listed.parent === "/" ? "" : listed.parent}/`, name: "..", detail: t("start.place.up", { path: listed.parent }), opens: true }] : [];
    return { options: [...up, ...inside], note: listed.complete ? (inside.length || !q ? "" : t("start.place.none")) : t("start.place.incomplete") };
  } catch (error) {
    return { options: [], note: explainError(error) };
  }
}
