"""`handraise replay`: a session's timeline, rebuilt from its journal alone. Needs no hub and changes nothing."""

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
    """Rebuild a timeline from a journal: a file, a session's folder, or a session's id.

    Who answered, and by which rule, is not in a journal: see `handraise audit`.

    \b
    handraise replay s_…
    handraise replay out.ndjson --json
    """
    from handraise.session.replay import Replay

    show = _as_json if as_json else _in_words()
    for journal in _journals(file, state_folder(state)):
        with journal.open("rb") as stream:
            since = datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)
            given_back = _skip_hole(stream)
            if given_back:
                click.echo(f"The first {given_back} bytes were given back to the disk; this is the rest.", err=True)
            replaying = Replay(_session(journal), since, given_back)
            while chunk := stream.read(_CHUNK):
                show(replaying.receive(chunk))
            show(replaying.receive_end())


def _journals(named: str, state: Path) -> list[Path]:
    """One journal for each process that the session had, in their order."""
    for place in (Path(named), state / "sessions" / named):
        if place.is_file():
            return [place]
        if (place / _JOURNAL).is_file():
            return [place / _JOURNAL]
        runs = [run for run in place.glob(f"*/{_JOURNAL}") if run.parent.name.isdecimal()] if place.is_dir() else []
        if runs:
            return sorted(runs, key=lambda run: int(run.parent.name))
    raise click.UsageError(f"{named} is neither a journal nor a session that has one. See: handraise ps")


def _session(journal: Path) -> str:
    """A session's journal lies in its folder, in one for each process; any other file is called what it is called."""
    return journal.parent.parent.name if journal.name == _JOURNAL else journal.stem


def _skip_hole(stream: BinaryIO) -> int:
    """Where the first whole line begins that is still there: what a hub has taken in may have been given back."""
    if not hasattr(os, "SEEK_DATA") or not os.fstat(stream.fileno()).st_size:
        return 0
    try:
        begins = os.lseek(stream.fileno(), 0, os.SEEK_DATA)
    except OSError:
        begins = 0
    stream.seek(begins)
    if begins:
        stream.readline()
    return stream.tell()


def _as_json(items: Sequence[Item]) -> None:
    for item in items:
        click.echo(item.as_json())


def _in_words() -> Callable[[Sequence[Item]], None]:
    """The lines that somebody would have seen who had stayed."""
    from handraise.model.asks import ask_from_json
    from handraise.model.items import AskOpened
    from handraise.present.headlines import headline
    from handraise.surfaces.terminal.harmless import seal
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
