"""The file of a backup: what goes in comes out, and nothing else is ever accepted."""

import io
import zipfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.backup.archive import MANIFEST, Archive, ArchiveWriter, BackupUnfit, Manifest, is_ours

CONTENTS = {
    "hub.db": bytes(range(256)) * 40,
    "machine.json": b'{"id":"m_0123456789abcdef"}',
    "sessions/s_1/3/out.ndjson": b'{"type":"system"}\n' * 50,
    "push/devices.json": b"",
}


def silent(_what: str, _done: int, _total: int) -> None:
    pass


def written(contents: dict[str, bytes] = CONTENTS, **changed: object) -> bytes:
    file = io.BytesIO()
    writer = ArchiveWriter(file, silent)
    for name, content in contents.items():
        writer.add(name, io.BytesIO(content), len(content))
    values = {"schema": 12, "sessions": 1, "version": "0.1.0", "made_at": "2026-11-18", "machine": "laptop", **changed}
    manifest = Manifest(**{"format": 1, "files": tuple(writer.files), **values})  # type: ignore[arg-type]
    writer.close(manifest)
    return file.getvalue()


def unpacked(path: Path) -> dict[str, bytes]:
    found = {}
    with Archive(path) as archive:
        for file in archive.manifest.files:
            target = io.BytesIO()
            archive.extract(file, target, silent)
            found[file.name] = target.getvalue()
    return found


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(BackupUnfit) as refused:
        unpacked(path)
    return str(refused.value)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive") / "backup.zip"


WHOLE = written()


@given(
    st.dictionaries(
        st.sampled_from([*CONTENTS, "settings/handraise.toml", "telegram/telegram.db"]), st.binary(max_size=3000)
    )
)
def test_what_goes_in_comes_out(place: Path, contents: dict[str, bytes]) -> None:
    place.write_bytes(written(contents))
    assert unpacked(place) == contents


@given(st.integers(0, len(WHOLE) - 1))
def test_a_shortened_file_is_refused(place: Path, length: int) -> None:
    assert refusal(place, WHOLE[:length]).endswith(("Use another backup.", "Use another file."))


@pytest.mark.parametrize("by", [1, 255])
def test_whichever_byte_is_changed_it_is_refused_or_changes_nothing(place: Path, by: int) -> None:
    refused = 0
    for at in range(len(WHOLE)):
        changed = bytearray(WHOLE)
        changed[at] ^= by
        place.write_bytes(changed)
        try:
            assert unpacked(place) == CONTENTS
        except BackupUnfit:
            refused += 1
    assert refused > len(WHOLE) / 2


@given(st.binary(max_size=400))
def test_any_other_file_is_refused(place: Path, content: bytes) -> None:
    refusal(place, content)


@pytest.mark.parametrize(
    "name",
    [
        "../hub.db", "/etc/passwd", "push/../../x", "push/..", "push/.", "push//x", "sessions/../1/out.ndjson",
        "settings/../../.ssh/authorized_keys", "claude/../x.jsonl", "claude/./x.jsonl", "claude/p/../x/y", "hub.db\0",
        "hub.db\n", "push\\x", "C:/x", "sessions/s_1/1/in", "hub.lock", "restore.json", "settings/.bashrc", "",
    ],
)  # fmt: skip
def test_a_name_that_leaves_its_folder_is_refused(place: Path, name: str) -> None:
    assert not is_ours(name)
    entry = {"name": name, "size": 1, "sha256": "0" * 64}
    assert "Don't restore it" in refusal(place, forged({name or " ": b"x"}, [entry]))


@given(st.text(max_size=40))
def test_an_accepted_name_stays_in_its_folder(name: str) -> None:
    if is_ours(name):
        assert (Path("/a/b") / name).resolve().is_relative_to("/a/b")


def forged(entries: dict[str, bytes], files: list[dict[str, object]], **changed: object) -> bytes:
    """A zip as someone else would write it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        manifest = {
            "format": 1, "version": "0.1.0", "made_at": "", "machine": "", "schema": None, "sessions": 0,
            "files": files, **changed,
        }  # fmt: skip
        archive.writestr(MANIFEST, msgspec.json.encode(manifest))
    return file.getvalue()


def test_a_manifest_that_fits_something_else_is_refused(place: Path) -> None:
    right = {"name": "hub.db", "size": 1, "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
    place.write_bytes(forged({"hub.db": b"x"}, [right]))
    assert unpacked(place) == {"hub.db": b"x"}
    for entries, files in (
        ({"hub.db": b"x", "machine.json": b""}, [right]),
        ({}, [right]),
        ({"hub.db": b"x"}, [right, right]),
        ({"hub.db": b"xy"}, [right]),
        ({"hub.db": b"y"}, [right]),
        ({"hub.db": b"x"}, [{**right, "size": -1}]),
        ({"hub.db": b"x"}, [{**right, "sha256": "none"}]),
        ({"hub.db": b"x"}, [{**right, "more": 1}]),
    ):
        assert "is damaged" in refusal(place, forged(entries, files))


def test_more_than_the_manifest_says_is_never_unpacked(place: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("hub.db", bytes(50 * 1024 * 1024))
        files = [{"name": "hub.db", "size": 10, "sha256": "0" * 64}]
        manifest = {"format": 1, "version": "", "made_at": "", "machine": "", "schema": 1, "sessions": 0}
        archive.writestr(MANIFEST, msgspec.json.encode({**manifest, "files": files}))
    place.write_bytes(bomb.getvalue())
    target = io.BytesIO()
    with Archive(place) as opened, pytest.raises(BackupUnfit, match="damaged"):
        opened.extract(opened.manifest.files[0], target, silent)
    assert len(target.getvalue()) <= 1024 * 1024


def test_a_newer_format_is_named(place: Path) -> None:
    assert "newer version" in refusal(place, written(format=2))
    assert "newer version" in refusal(place, forged({}, [{}], format=3))


def test_another_zip_is_no_backup(place: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "isn't a backup of Handraise" in refusal(place, file.getvalue())
