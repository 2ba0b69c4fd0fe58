"""`handraise replay`: rebuilds a session's timeline from its journal alone. Needs no hub and changes nothing."""

import os
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from handraise.cli.places import json_option, state_folder, state_option
from handraise.model.items import Item

_CHUNK = 1024 * 1024
_JOURNAL = "out.ndjson"


@click.command()
@click.argument("file", metavar="FILE|SESSION")
@state_option
@json_option
def replay(file: str, state: str | None, as_json: bool) -> None:
    """Rebuild a timeline from a journal: a file, a session's folder or a session ID.

    A journal doesn't say who answered, or by which rule: see `handraise audit`.

    \b
    handraise replay s_…
    handraise replay out.ndjson --json
    """
    from handraise.session.replay import Replay

    show = _as_json if as_json else _in_words()
    for journal in _journals(file, state_folder(state)):
        with journal.open("rb") as stream:
            since = datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)
            freed = _skip_hole(stream)
            if freed:
                click.echo(f"The first {freed:,} bytes were removed to save disk space. This is the rest.", err=True)
            replaying = Replay(_session(journal), since, freed)
            while chunk := stream.read(_CHUNK):
                show(replaying.receive(chunk))
            show(replaying.receive_end())


def _journals(name: str, state: Path) -> list[Path]:
    """The journals of the session's processes, in order."""
    for place in (Path(name), state / "sessions" / name):
        if place.is_file():
            return [place]
        if (place / _JOURNAL).is_file():
            return [place / _JOURNAL]
        runs = [run for run in place.glob(f"*/{_JOURNAL}") if run.parent.name.isdecimal()] if place.is_dir() else []
        if runs:
            return sorted(runs, key=lambda run: int(run.parent.name))
    raise click.UsageError(f"{name} is neither a journal nor a session with one. List sessions with: handraise ps")


def _session(journal: Path) -> str:
    """The session's ID from its folder (one subfolder per process); for any other file, the file's name."""
    return journal.parent.parent.name if journal.name == _JOURNAL else journal.stem


def _skip_hole(stream: BinaryIO) -> int:
    """Where the first remaining whole line begins: the hub may have freed what it has already stored."""
    if not hasattr(os, "SEEK_DATA") or not os.fstat(stream.fileno()).st_size:
        return 0
    try:
        start = os.lseek(stream.fileno(), 0, os.SEEK_DATA)
    except OSError:
        start = 0
    stream.seek(start)
    if start:
        stream.readline()
    return stream.tell()


def _as_json(items: Sequence[Item]) -> None:
    for item in items:
        click.echo(item.as_json())


def _in_words() -> Callable[[Sequence[Item]], None]:
    """Prints the lines that the terminal would have shown."""
    from handraise.model.asks import ask_from_json
    from handraise.model.items import AskOpened
    from handraise.present.harmless import seal
    from handraise.present.headlines import headline
    from handraise.surfaces.terminal.lines import text_of
    from handraise.surfaces.terminal.timeline import Timeline

    timeline = Timeline()
    width = max(40, shutil.get_terminal_size((100, 24)).columns)

    def show(items: Sequence[Item]) -> None:
        for item in items:
            content = item.read()
            if isinstance(content, AskOpened):
                click.echo(f"✋ {seal(headline(ask_from_json(content.ask), None))}")
            for line in timeline.receive(item, width):
                click.echo(seal(text_of(line)).rstrip())

    return show
