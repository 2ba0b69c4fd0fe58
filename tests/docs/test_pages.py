"""The pages for people: what they tell people to type works, and the settings on them are valid."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from cli.parsing import parsed
from handraise.cli.main import main
from handraise.config.reading import read_settings

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("start", "guide", "rules", "phones", "operations")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, list[str]]]:
    lines = [(page, line) for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    typed = [(page, shlex.split(line, comments=True)) for page, line in lines]
    return [(page, words[1:]) for page, words in typed if words[:1] == ["handraise"]]


@pytest.mark.parametrize(("page", "words"), commands(), ids=lambda each: each if isinstance(each, str) else None)
def test_every_command_exists_with_its_arguments(page: str, words: list[str], tmp_path: Path) -> None:
    there = tmp_path / "backup.zip"
    there.touch()
    assert parsed([re.sub(r"^~/.*\.zip$", str(there), each) for each in words]), page


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_in_sentences_exist(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    for words in re.findall(r"`handraise ([a-z][a-z ]*)[^`]*`", text):
        command: click.Command | None = main
        for word in words.split():
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(main), word)
        assert command is not None, words


@pytest.mark.parametrize("page", PAGES)
def test_every_settings_block_is_valid(page: str) -> None:
    for block in blocks(page, "toml"):
        tomllib.loads(block)
        read_settings(block, {})


def test_what_the_pages_name_in_the_repository_exists() -> None:
    for page in (each for each in PAGES if each != "rules"):
        text = (DOCS / f"{page}.md").read_text("utf-8")
        for name in re.findall(r"`((?:deploy|tests|docs)/[\w./-]+)`", text):
            assert (DOCS.parent / name).exists(), (page, name)
