/** The list above the composer: Claude's commands after `/`, files of the project after `@`. Loaded when the composer is first used. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Files } from "../generated/api";
import { abilitiesOf } from "../sessions/abilities";
import { explainError, get } from "../store/http";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";
import { commandsFor, type Completing } from "./completing";
import type { CompletionSource } from "./completion";

export interface CompletionOption {
  value: string;
  name: string;
  /** What may follow a command. */
  hint?: string;
  detail: string;
}

/** What the list has to offer. `note` is a sentence: why it is empty, or incomplete. */
export interface Offer {
  options: readonly CompletionOption[];
  note: string;
}

interface CompletionsProps {
  id: string;
  source: CompletionSource;
  completing: Completing;
  active: Signal<number>;
  /** The composer reads from here what Enter would insert. */
  offer: Signal<Offer>;
  pick: (value: string) => void;
}

export default function Completions({ id, source, completing, active, offer, pick }: CompletionsProps) {
  const { kind, typed } = completing;
  const commands = useCommands(source.abilities, kind, typed);
  const files = useFiles(source.files, kind, typed);
  const found = kind === "command" ? commands : files;
  // Before the next key: Enter inserts what is on the screen.
  useMemo(() => {
    offer.value = found ?? { options: [], note: "" };
    active.value = 0;
  }, [found]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active.value]);
  if (!found) return null;
  return (
    <div class="completions">
      {found.options.length > 0 && (
        <div id={id} role="listbox" aria-label={t(kind === "command" ? "compose.commands" : "compose.files")} ref={list}>
          {found.options.map((option, at) => (
            <Option key={option.value} id={`${id}-${at}`} option={option} selected={at === active.value} pick={() => pick(option.value)} />
          ))}
        </div>
      )}
      {found.note && <p class="quiet-text">{found.note}</p>}
      <p class="unseen" role="status">
        {found.options.length ? t("compose.suggestions", { count: found.options.length }) : found.note}
      </p>
    </div>
  );
}

function Option({ id, option, selected, pick }: { id: string; option: CompletionOption; selected: boolean; pick: () => void }) {
  return (
    // The focus stays in the field.
    <div id={id} role="option" tabIndex={-1} aria-selected={selected} onPointerDown={(event) => event.preventDefault()} onClick={pick}>
      <span class="mono">{revealExactly(option.name)}</span>
      {option.hint && <span class="mono hint wide-only">{reveal(option.hint)}</span>}
      {option.detail && <span class="quiet-text">{reveal(option.detail)}</span>}
    </div>
  );
}

function useCommands(query: string, kind: Completing["kind"], typed: string): Offer | null {
  const known = kind === "command" ? abilitiesOf(query).value : null;
  return useMemo(() => {
    if (!known) return null;
    const options = commandsFor(known.commands, typed).map(({ name, description, hint }) => ({ value: name, name: `/${name}`, hint, detail: description }));
    // A command that is written out is sent, not completed.
    if (options.some(({ value }) => value === typed)) return { options: options.length > 1 ? options : [], note: "" };
    const note = options.length ? "" : known.commands.length ? t("compose.none.command", { typed: reveal(typed) }) : t("compose.no_commands");
    return { options, note };
  }, [known, typed]);
}

const PAUSE = 60;

function useFiles(path: string | null, kind: Completing["kind"], typed: string): Offer | null {
  const found = useSignal<Offer | null>(null);
  useEffect(() => {
    if (kind !== "file" || path === null) return;
    let stale = false;
    const timer = setTimeout(async () => {
      const offer = await find(path, typed);
      if (!stale) found.value = offer;
    }, PAUSE);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [path, kind, typed]);
  return found.value;
}

async function find(path: string, typed: string): Promise<Offer> {
  try {
    const { files, complete } = await get<Files>(path + encodeURIComponent(typed));
    const options = files.map((path) => ({ value: path, name: path, detail: "" }));
    if (files.length === 1 && files[0] === typed) return { options: [], note: "" };
    const note = !files.length ? t("compose.none.file", { typed: reveal(typed) }) : complete ? "" : t("compose.incomplete");
    return { options, note };
  } catch (error) {
    return { options: [], note: explainError(error) };
  }
}
