"""What Git prints about a working tree, as our types. Pure."""

from typing import Literal

from msgspec import Struct

FileStatus = Literal["added", "modified", "deleted", "link"]
"""`link`: it is a symbolic link, or was one."""
_LINK = "120000"
_MODULE = "160000"


class FileChange(Struct, frozen=True):
    """A file that changed. Lines are None if they weren't counted."""

    path: str
    """Relative to the session's directory."""
    status: FileStatus
    added: int | None = None
    gone: int | None = None


class RawChange(Struct, frozen=True):
    """A line of `git diff-files --raw`."""

    path: str
    status: FileStatus
    blob: str
    executable: bool


def read_raw(output: bytes) -> list[RawChange]:
    """`:100644 100755 <blob> <blob> M` and a path, each ended by a zero byte. Submodules are left out."""
    pieces = output.decode(errors="surrogateescape").split("\0")
    changes = []
    for head, path in zip(pieces[::2], pieces[1::2], strict=False):
        words = head.removeprefix(":").split(" ")
        if len(words) != 5 or not path or _MODULE in words[:2]:
            continue
        before, after, blob, _, letter = words
        status: FileStatus = "link" if _LINK in (before, after) else "deleted" if letter == "D" else "modified"
        changes.append(RawChange(path, status, blob, before == "100755"))
    return changes


def read_counts(output: bytes) -> dict[str, tuple[int, int]]:
    """`git diff-files --numstat -z`. A binary file has none."""
    counts = {}
    for line in output.decode(errors="surrogateescape").split("\0"):
        added, _, rest = line.partition("\t")
        gone, _, path = rest.partition("\t")
        if added.isdigit() and gone.isdigit():
            counts[path] = int(added), int(gone)
    return counts


def read_names(output: bytes) -> list[str]:
    """`git ls-files -z`. A name that ends with a slash is a repository inside this one."""
    names = output.decode(errors="surrogateescape").split("\0")
    return [name for name in names if name and not name.endswith("/")]


def hunks_of(output: bytes) -> str | None:
    """The hunks of a diff of one file, without its head; None if it isn't text."""
    if b"\0" in output:
        return None
    text = output.decode(errors="surrogateescape")
    at = text.find("\n@@ ")
    return text[at + 1 :] if at >= 0 else ""


def diff_of_new(content: bytes) -> str | None:
    """A new file as a diff; None if it isn't text."""
    if b"\0" in content:
        return None
    if not content:
        return ""
    lines = content.decode(errors="surrogateescape").split("\n")
    last = lines.pop()
    count = len(lines) + bool(last)
    hunk = f"@@ -0,0 +1{'' if count == 1 else f',{count}'} @@\n"
    return hunk + "".join(f"+{line}\n" for line in lines) + (f"+{last}\n\\ No newline at end of file\n" if last else "")
