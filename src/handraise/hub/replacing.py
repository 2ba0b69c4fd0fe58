"""Replaces what is in a state folder by what was prepared beside it, even if the process is killed halfway.

The plan is a list of renames in one file. Once that file exists, the replacement happens: whoever holds the folder's
lock next finishes it. Before that, nothing was changed. Never copies and never deletes anything.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

PLAN = "restore.json"
Rename = Callable[[Path, Path], None]


class Renaming(Struct, frozen=True, array_like=True):
    """One step. It is done if its target exists, so each target must be free when the plan is made, or by then."""

    source: str
    target: str


class ReplacementUnreadable(Exception):
    """The plan is there, but can't be read."""


def rename(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source.rename(target)


def replace_state(state: Path, steps: Sequence[Renaming], perform: Rename = rename) -> None:
    """Carries out the steps, in order. The caller holds the folder's lock, and has synced what was prepared."""
    draft = state / f"{PLAN}.new"
    draft.write_bytes(msgspec.json.encode(list(steps)))
    sync(draft)
    draft.rename(state / PLAN)
    sync(state)
    finish_replacing(state, perform)


def finish_replacing(state: Path, perform: Rename = rename) -> bool:
    """Finishes what was begun. Returns whether there was anything; raises ReplacementUnreadable or OSError."""
    plan = state / PLAN
    try:
        steps = msgspec.json.decode(plan.read_bytes(), type=list[Renaming])
    except FileNotFoundError:
        return False
    except msgspec.DecodeError as error:
        raise ReplacementUnreadable(f"Can't read {plan}, which says how to finish a restore.") from error
    for step in steps:
        source, target = Path(step.source), Path(step.target)
        if os.path.lexists(source) and not os.path.lexists(target):
            perform(source, target)
            sync(target.parent)
            sync(source.parent)
    plan.unlink()
    sync(state)
    return True


def sync(path: Path) -> None:
    """Waits until a file's content, or a folder's names, are on the disk."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
