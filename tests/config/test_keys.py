"""The keys: docs/settings.md lists each with its default and its variable, and no others."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from handraise.config.tables import COUNTERPARTS, KEYS, PLACES, PROJECT_KEYS, RULE_KEYS, VARIABLES, SettingKey

PAGE = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")


def test_every_key_is_documented_with_its_default_and_its_variable() -> None:
    documented = {
        (f"{section}.{key}", default, variable)
        for section in re.findall(r"^## `\[([a-z.]+)\]`$", PAGE, re.MULTILINE)
        for key, default, variable, _ in rows(f"`[{section}]`")
    }
    documented |= {(key, default, variable) for key, default, variable, _ in rows("Before the first section")}

    assert documented == {(key.name, spelled(key), key.variable) for key in KEYS.values()}


def test_every_key_of_a_rule_is_documented_with_its_default() -> None:
    documented = {(key, default) for key, default, _ in rows("`[[rule]]`")}

    assert documented == {(key.name, spelled(key)) for key in RULE_KEYS.values()}


def test_every_key_of_a_projects_file_is_documented_with_what_it_sets() -> None:
    documented = {(key, sets) for key, sets in rows("A project's own file")}

    assert documented == {(".".join(path), ".".join(sets)) for path, sets in COUNTERPARTS.items()}
    assert {*COUNTERPARTS} == {*PROJECT_KEYS}
    assert {*COUNTERPARTS.values()} <= {*KEYS}


def test_no_variable_is_named_that_there_is_not_and_none_is_missing() -> None:
    assert {*re.findall(r"HANDRAISE_[A-Z_]+", PAGE)} == {*VARIABLES, *PLACES}


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the rows under a heading, without their code quotes."""
    under = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    for line in under.splitlines():
        if line.startswith("| `"):
            first, *rest = [cell.strip() for cell in line.strip("|").split(" | ")]
            yield [cell.strip("`") if cell.count("`") == 2 else cell for cell in (first, *rest)]


def spelled(key: SettingKey) -> str:
    if key.default is msgspec.NODEFAULT:
        return "needed"
    return "not set" if key.default is None else msgspec.json.encode(key.default).decode()
