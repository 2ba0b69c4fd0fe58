"""The options of a project: all of them can be set, and all are documented."""

from pathlib import Path

import msgspec

from handraise.cli.projects import KEYS
from handraise.model.projects import Options, Patience

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def test_every_option_can_be_set_from_the_command_line() -> None:
    plain = {each.name for each in msgspec.structs.fields(Options)} - {"patience"}
    kinds = {f"patience.{each.name}" for each in msgspec.structs.fields(Patience)}

    assert set(KEYS) == plain | kinds


def test_every_option_is_documented() -> None:
    page = PAGE.read_text()

    for key in KEYS:
        assert f"`{key}`" in page or f"`.{key.partition('.')[2]}`" in page, key
