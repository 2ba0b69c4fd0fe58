/** Directories to choose from when a session starts: known ones, and those of the hub's machine. Pure. */

export interface PlaceOption {
  /** A project's ID, or a directory. */
  value: string;
  /** What the field shows once it is chosen. */
  text: string;
  name: string;
  detail: string;
  /** Choosing it shows what is inside of it. */
  opens: boolean;
}

export interface KnownPlaces {
  projects: readonly { id: string; name: string; path: string }[];
  recent: readonly string[];
  own: string;
  home: string;
}

export interface PlaceWords {
  project: string;
  recent: string;
  own: string;
  home: string;
}

/** Known directories that have what was typed in their name or path: projects, recent ones, the hub's own, home. Each once. */
export function knownOptions({ projects, recent, own, home }: KnownPlaces, words: PlaceWords, typed: string): PlaceOption[] {
  const named = projects.map(({ id, name, path }) => ({ value: id, text: path || name, name, detail: path || words.project, opens: false }));
  const taken = new Set(projects.map((project) => project.path));
  const others = [...recent.map((path) => [path, words.recent] as const), [own, words.own] as const, [home, words.home] as const].flatMap(([path, detail]) => {
    if (!path || taken.has(path)) return [];
    taken.add(path);
    return [{ value: path, text: path, name: path, detail, opens: false }];
  });
  const wanted = typed.trim().toLowerCase();
  return [...named, ...others].filter((option) => !wanted || `${option.name} ${option.text}`.toLowerCase().includes(wanted));
}

/** Whether a path is being typed, rather than a name. */
export function isPath(text: string): boolean {
  return text.startsWith("/") || text.startsWith("~");
}

/** The directory whose contents to list, and how the names start. `~` is the home directory. */
export function partsOf(text: string, home: string): { path: string; q: string } {
  const whole = home && text === "~" ? `${home}/` : home && text.startsWith("~/") ? home + text.slice(1) : text;
  const at = whole.lastIndexOf("/");
  return { path: whole.slice(0, at) || "/", q: whole.slice(at + 1) };
}

/** What is sent to the hub: without the slash at the end, and without `~`. */
export function wholePath(text: string, home: string): string {
  // The hub knows projects by their names, and says so if there is none.
  const plain = text.trim();
  if (!isPath(plain) || (plain === "~" && !home)) return plain;
  const { path, q } = partsOf(plain, home);
  return q ? `${path === "/" ? "" : path}/${q}` : path;
}
