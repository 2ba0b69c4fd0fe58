/** Directories that are known without browsing: those of earlier sessions, and the hub's own. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Directories } from "../generated/api";
import { projects, sessions } from "../store/desk";
import { get } from "../store/http";
import { machineOf, several } from "../store/machines";

/** Where sessions without a project ran. */
export function otherDirectories(): string[] {
  const ours = [...sessions.value.values()].filter((session) => !several.value || machineOf(session)?.here).sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1));
  const known = projects.value.flatMap((project) => [project.path, ...(project.elsewhere ?? []).map((place) => place.path)]);
  return [...new Set(ours.map((session) => session.directory))].filter((each) => !known.includes(each));
}

/** Where the hub was started, if that isn't known from somewhere else. */
export function useOwnDirectory(known: string | undefined): Signal<string> {
  const own = useSignal("");
  useEffect(() => {
    if (known) own.value = known;
    else
      void get<Directories>("/api/directories").then(
        (found) => (own.value = found.path),
        () => undefined,
      );
  }, [known]);
  return own;
}
