"""The catalogue: one folder for each language, with English filling the gaps."""

import json
import re
from pathlib import Path

import pytest

from handraise import texts
from handraise.texts import Catalogue, t
from handraise.texts.catalogue import FOLDER, flat

PLACEHOLDER = re.compile(r"\{\w+\}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    english = {"wait": "Waiting {span}", "files": {"one": "{count} file", "other": "{count} files"}, "in": {"a": "A"}}
    polish = {"files": {"one": "{count} plik", "few": "{count} pliki", "other": "{count} plików"}, "in": {"a": "Ą"}}
    for language, area in (("en", english), ("pl", polish)):
        (tmp_path / language).mkdir()
        (tmp_path / language / "card.json").write_text(json.dumps(area), "utf-8")
    return tmp_path


def test_a_translation_counts_as_its_language_does(folder: Path) -> None:
    with texts.using(Catalogue("pl", folder)):
        assert [t("card.files", count=count) for count in (1, 2, 5, 22)] == [
            "1 plik",
            "2 pliki",
            "5 plików",
            "22 pliki",
        ]


def test_what_a_translation_leaves_out_is_said_in_english(folder: Path) -> None:
    with texts.using(Catalogue("pl", folder)):
        assert t("card.wait", span="3 s") == "Waiting 3 s"
        assert t("card.in.a") == "Ą"


def test_the_whole_catalogue_has_every_area_as_its_file_is_nested(folder: Path) -> None:
    whole = Catalogue("pl", folder).whole()

    assert whole["card"]["wait"] == "Waiting {span}"
    assert whole["card"]["files"]["few"] == "{count} pliki"


def test_languages_are_the_folders_and_the_pseudo_locale(folder: Path) -> None:
    assert texts.languages(folder) == ("en", "pl", "en-XA")


@pytest.mark.parametrize("path", sorted((FOLDER / "en").glob("*.json")), ids=lambda path: path.stem)
def test_every_message_is_text_and_its_plural_forms_use_the_same_values(path: Path) -> None:
    for key, message in flat(json.loads(path.read_text("utf-8"))):
        if isinstance(message, str):
            assert "{count}" not in message, key
            continue
        assert {"one", "other"} <= message.keys(), key
        values = {frozenset(PLACEHOLDER.findall(form)) for form in message.values()}
        assert len(values) == 1, key


@pytest.mark.parametrize("path", sorted((FOLDER / "en").glob("*.json")), ids=lambda path: path.stem)
def test_every_message_survives_the_pseudo_locale(path: Path) -> None:
    english = dict(flat(json.loads(path.read_text("utf-8")), f"{path.stem}."))
    pseudo = Catalogue("en-XA")
    for key, message in english.items():
        changed = pseudo.message(key)
        assert changed is not None
        pairs = (
            zip(message.values(), changed.values(), strict=True)
            if not isinstance(message, str) and not isinstance(changed, str)
            else [(str(message), str(changed))]
        )
        for before, after in pairs:
            assert sorted(PLACEHOLDER.findall(before)) == sorted(PLACEHOLDER.findall(after)), key
            assert len(after) >= len(before) * 4 / 3, key
