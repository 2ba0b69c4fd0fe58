/** Directories that are known without browsing: those of earlier sessions, and the hub's own. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Session } from "../feed/model";
import type { Directories } from "../generated/api";
import { projects, sessions } from "../store/desk";
import { get } from "../store/http";
import { machineOf, several } from "../store/machines";

/** Where sessions without a project ran: on the hub's machine, or on the one with this ID. */
export function otherDirectories(machine = ""): string[] {
  const isThere = (session: Session) => !several.value || (machine ? machineOf(session)?.id === machine : machineOf(session)?.here);
  const ours = [...sessions.value.values()].filter(isThere).sort((a, b) => (a.changed_at > b.changed_at ? -1 : 1));
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
