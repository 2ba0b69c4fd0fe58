"""The dangers in a call: what people regret most, found by the policy's own reading of it. Pure; decides nothing.

Here a possibility is enough, as for a rule that asks: a command that can't be parsed with certainty is read loosely.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from posixpath import isabs, join

from msgspec import Struct

from handraise.model.dangers import Danger, DangerKind
from handraise.model.lookalikes import first_turn, lookalikes, lookalikes_in_code
from handraise.model.tools import tool_named
from handraise.policy.calls import FILE_TOOLS, Call
from handraise.policy.paths import MAX_PATH, Resolve, is_below, normpath
from handraise.policy.programs import INTERPRETERS, SHELLS, basename, known_name, runs_its_words
from handraise.policy.shell import HARMLESS_TARGETS, Opaque, SimpleCommand, parse
from handraise.policy.shell_words import Word

MOST = 4
"""How many are named; someone who isn't stopped by these isn't stopped by more."""
_SHOWN = 120
_AROUND = 40
"""How much is shown on each side of a character that reverses text."""
_LONGEST = 200_000
_MOST_PARTS = 2_000
_LOOKED_BEHIND = 64
_WRITTEN = ("content", "new_string", "new_source")
"""The inputs of file tools that become part of a file."""
_DEEPEST = 3
_BREAKS = re.compile(r"[|&;\n(){}<>`]+")
_EXPANDS = re.compile(r"[*?\[\]{}$`]|^~")
_VARIABLE = re.compile(r"[$`]")
_HOME = re.compile(r"[\"']?(?:~|\$HOME\b|\$\{HOME\})")
_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "http", "https", "xh", "aria2c", "lwp-download"})
_DELETERS = frozenset({"rm", "unlink", "rmdir", "shred", "srm"})
_FINDERS = frozenset({"find", "gfind", "fd", "fdfind"})
_DISK_TOOLS = frozenset({"wipefs", "fdisk", "sfdisk", "parted", "blkdiscard"})
_RAISING = frozenset({"sudo", "doas", "pkexec", "su", "runuser"})
_SOURCING = frozenset({"eval", "source", "."})
_GIT_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})
_FORCING = re.compile(
    r"-[a-zA-Z]*[fd][a-zA-Z]*|--force(?:-with-lease(?:=.*)?)?|--mirror|--delete|--prune|[+:].+", re.DOTALL
)
_GIT_DISCARDS: dict[str, re.Pattern[str]] = {
    "reset": re.compile(r"--hard"),
    "clean": re.compile(r"-[a-zA-Z]*f[a-zA-Z]*|--force"),
    "checkout": re.compile(r"\.|--|-f|--force"),
    "restore": re.compile(r"[^-].*"),
    "switch": re.compile(r"-f|--force|--discard-changes"),
    "branch": re.compile(r"-[a-zA-Z]*D[a-zA-Z]*"),
    "stash": re.compile(r"drop|clear"),
    "reflog": re.compile(r"expire|delete"),
    "filter-branch": re.compile(r".*"),
    "filter-repo": re.compile(r".*"),
}
_ORDER: tuple[DangerKind, ...] = (
    "runs_download", "device", "deletes_outside", "deletes_project", "deletes_unknown", "force_push", "discards",
    "direction", "lookalike", "direction_text", "lookalike_text", "as_root",
)  # fmt: skip


class _Where(Struct):
    """The project, and where the command is by now; None if only the shell knows."""

    root: str
    here: str | None
    resolve: Resolve


def dangers(call: Call, resolve: Resolve = normpath, diff: str | None = None) -> tuple[Danger, ...]:
    """At most MOST, the worst first, each once. `diff`: what the call would change, if that is known."""
    found = [*_in_commands(call, resolve), *_in_names(call), *_in_contents(call, diff)]
    unique = dict.fromkeys(Danger(each.kind, _clipped(each.what)) for each in found)
    return tuple(sorted(unique, key=lambda each: _ORDER.index(each.kind)))[:MOST]


def _in_commands(call: Call, resolve: Resolve) -> Iterator[Danger]:
    for command in call.runnable:
        parts = _parts(command[:_LONGEST])
        yield from _turned(command)
        where = _Where(resolve(normpath(call.directory)), normpath(call.cwd or call.directory), resolve)
        yield from _downloads_that_run(parts)
        for part in parts:
            yield from _in_part(part, where)
        for word in (word for part in parts for word in part.words):
            yield from _lookalike(word.text)


def _in_names(call: Call) -> Iterator[Danger]:
    """Paths, addresses and names; prose may be in any script."""
    yield from _turned(call.tool)
    yield from _lookalike(call.tool)
    path = FILE_TOOLS.get(call.tool)
    named = (path,) if path else tuple(key for key in call.input if call.tool.startswith("mcp__") or key == "url")
    for key in named:
        value = call.input.get(key)
        if isinstance(value, str) and len(value) <= MAX_PATH and not (path is None and re.search(r"\s", value)):
            yield from _turned(value)
            yield from _lookalike(value)


def _turned(text: str, kind: DangerKind = "direction") -> Iterator[Danger]:
    at = first_turn(text)
    if at is not None:
        yield Danger(kind, text[max(0, at - _AROUND) : at + _AROUND].strip(" \t\n"))


def _lookalike(text: str) -> Iterator[Danger]:
    if lookalikes(text):
        yield Danger("lookalike", text)


def _in_contents(call: Call, diff: str | None) -> Iterator[Danger]:
    """What a call would write into a file; what is there already is none of its doing."""
    foreign = [line for line in _added(call, diff) if not line.isascii()]
    turned = (danger for line in foreign for danger in _turned(line, "direction_text"))
    alike = (Danger("lookalike_text", name) for line in foreign for name in lookalikes_in_code(line))
    yield from islice(turned, 1)
    yield from islice(alike, 1)


def _added(call: Call, diff: str | None) -> Iterator[str]:
    if diff is not None:
        yield from (line[1:] for line in diff.split("\n") if line.startswith("+"))
    elif tool_named(call.tool).change:
        edits = call.input.get("edits")
        for each in (call.input, *(edits if isinstance(edits, list) else ())):
            texts = [each.get(key) for key in _WRITTEN] if isinstance(each, Mapping) else []
            yield from (line for text in texts if isinstance(text, str) for line in text.split("\n"))


def _parts(command: str, depth: int = 0) -> list[SimpleCommand]:
    """Every simple command, also those that others would run."""
    read = parse(command)
    found: list[SimpleCommand] = []
    for part in _loosely(command) if isinstance(read, Opaque) else read.parts:
        found.append(part)
        if part.words and runs_its_words(part.words):
            found += _behind(part, depth)
        if len(found) > _MOST_PARTS:
            break
    return found


def _loosely(command: str) -> list[SimpleCommand]:
    """As someone who skims it: split at every sign of the grammar, quotes ignored."""
    pieces = (piece.strip() for piece in _BREAKS.split(command.replace("\\\n", " ")))
    return [
        SimpleCommand(tuple(Word(word.strip("\"'"), not _EXPANDS.search(word)) for word in piece.split()), source=piece)
        for piece in pieces
        if piece
    ]


def _behind(part: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    """What a program runs that its arguments name: as words (`sudo rm x`), or as one text (`bash -c 'rm x'`)."""
    for start, word in enumerate(part.words[1:_LOOKED_BEHIND], 1):
        if not word.literal:
            continue
        if re.search(r"[\s;|&]", word.text):
            if depth < _DEEPEST:
                yield from _parts(word.text, depth + 1)
        elif not word.text.startswith("-"):
            words = part.words[start:]
            yield SimpleCommand(words, redirections=part.redirections, source=" ".join(each.text for each in words))


def _downloads_that_run(parts: list[SimpleCommand]) -> Iterator[Danger]:
    downloads = [part for part in parts if _name(part) in _DOWNLOADERS]
    if not downloads:
        return
    saved = {name for each in downloads for name in _saved(each)}
    for part in parts:
        if _reads_its_code(part) or _runs_one_of(part, saved):
            yield Danger("runs_download", f"{_clipped(downloads[0].source, 80)} … {_clipped(part.source, 30)}")
            return


def _reads_its_code(part: SimpleCommand) -> bool:
    """A shell that gets its program from a pipe or a substitution: `| sh`, `bash <(…)`, `eval "$(…)"`."""
    name, words = _name(part), part.words[1:]
    if name in _SOURCING:
        return any(not word.literal for word in words)
    if name not in SHELLS and name not in INTERPRETERS:
        return False
    inline = False
    for word in words:
        if inline or (not word.literal and word.text.startswith(("<(", "$(", '"$('))):
            return not word.literal
        if not word.literal:
            return False
        if word.text in ("-", "-s", "/dev/stdin"):
            return True
        inline = bool(re.fullmatch(r"-[a-zA-Z]*[ce]|--eval|--command", word.text))
        if not word.text.startswith("-"):
            return False
    return True


def _saved(part: SimpleCommand) -> Iterator[str]:
    """The names of the files that a download may be saved as."""
    texts = [word.text for word in part.words]
    for at, text in enumerate(texts[1:], 1):
        value = texts[at + 1] if at + 1 < len(texts) else ""
        if re.fullmatch(r"-[a-zA-Z]*[oO]|--output|--output-document", text):
            yield basename(value)
        elif found := re.match(r"--output(?:-document)?=(.+)", text):
            yield basename(found[1])
        if "://" in text:
            yield basename(text.split("?")[0])
    for each in part.redirections:
        if each.writes and each.target is not None:
            yield basename(each.target.text)


def _runs_one_of(part: SimpleCommand, names: set[str]) -> bool:
    if not part.words or _name(part) in _DOWNLOADERS:
        return False
    if "/" in part.words[0].text and basename(part.words[0].text) in names:
        return True
    runs = _name(part) in SHELLS | INTERPRETERS | _SOURCING
    return runs and any(basename(word.text) in names - {""} for word in part.words[1:])


def _in_part(part: SimpleCommand, where: _Where) -> Iterator[Danger]:
    name, texts = _name(part), [word.text for word in part.words]
    for each in part.redirections:
        if each.writes and each.target is not None and _is_device(each.target.text):
            yield Danger("device", part.source)
    if name in _RAISING:
        yield Danger("as_root", part.source)
    if name in _DISK_TOOLS or name.startswith("mkfs") or (name == "dd" and _writes_device(texts)):
        yield Danger("device", part.source)
    elif name in _DELETERS:
        yield from _deleted(part, where)
    elif name in _FINDERS and any(text == "-delete" or basename(text) in _DELETERS for text in texts[1:]):
        yield from _found_and_deleted(part, where)
    elif name in ("xargs", "parallel") and any(basename(text) in _DELETERS for text in texts[1:]):
        yield Danger("deletes_unknown", part.source)
    elif name == "git":
        yield from _in_git(part)
    elif name in ("cd", "pushd"):
        where.here = _gone_to(part, where)


def _deleted(part: SimpleCommand, where: _Where) -> Iterator[Danger]:
    ended = False
    for word in part.words[1:]:
        if word.literal and word.text.startswith("-") and not ended:
            ended = word.text == "--"
            continue
        kind = _hit(word, where)
        if kind is not None:
            yield Danger(kind, part.source)


def _found_and_deleted(part: SimpleCommand, where: _Where) -> Iterator[Danger]:
    """Deleting some files of the project is everyday work; searching elsewhere isn't."""
    for word in part.words[1:]:
        if word.literal and word.text.startswith(("-", "(", "!")):
            return
        kind = _hit(word, where)
        if kind in ("deletes_outside", "deletes_unknown"):
            yield Danger(kind, part.source)


def _hit(word: Word, where: _Where) -> DangerKind | None:
    """Where a deletion leads; None if it stays among the project's files."""
    text = word.text
    if not word.literal:
        if _HOME.match(text):
            return "deletes_outside"
        # `build/*` is about `build`, and `/opt/$x` about something in `/opt`.
        stem = _EXPANDS.split(text.strip("\"'"), maxsplit=1)[0]
        if not stem and _VARIABLE.search(text):
            return "deletes_unknown"
        text = stem or "."
    if len(text) > MAX_PATH or "\0" in text or (where.here is None and not isabs(text)):
        return "deletes_unknown"
    path = where.resolve(normpath(join(where.here or "/", text)))
    if path == where.root or path == f"{where.root.rstrip('/')}/.git":
        return "deletes_project"
    return None if is_below(path, where.root) else "deletes_outside"


def _gone_to(part: SimpleCommand, where: _Where) -> str | None:
    targets = [word for word in part.words[1:] if not (word.literal and word.text.startswith("-"))]
    if len(targets) != 1 or not targets[0].literal or (where.here is None and not isabs(targets[0].text)):
        return None
    return normpath(join(where.here or "/", targets[0].text))


def _in_git(part: SimpleCommand) -> Iterator[Danger]:
    texts = [word.text for word in part.words[1:]]
    while texts and texts[0].startswith("-"):
        del texts[: 2 if texts[0] in _GIT_WITH_VALUE else 1]
    if not texts:
        return
    command, rest = texts[0], texts[1:]
    if command == "push" and any(_FORCING.fullmatch(each) for each in rest):
        yield Danger("force_push", part.source)
    pattern = _GIT_DISCARDS.get(command)
    if pattern is None or (command == "restore" and "--staged" in rest and "--worktree" not in rest):
        return
    if command == "clean" and any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--dry-run", each) for each in rest):
        return
    if any(pattern.fullmatch(each) for each in rest):
        yield Danger("discards", part.source)


def _writes_device(texts: list[str]) -> bool:
    return any(text.startswith("of=") and _is_device(text[3:]) for text in texts)


def _is_device(path: str) -> bool:
    return path.startswith("/dev/") and path not in HARMLESS_TARGETS and not path.startswith(("/dev/tty", "/dev/fd"))


def _name(part: SimpleCommand) -> str:
    """The program in the tables; upper and lower case are the same to some file systems."""
    return known_name(part.words[0].text).lower() if part.words and part.words[0].literal else ""


def _clipped(text: str, most: int = _SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
