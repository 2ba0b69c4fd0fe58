"""The hub's own key: created once, kept private, and push services accept its signatures."""

import os
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from handraise.surfaces.push.device_log import KeyLost
from handraise.surfaces.push.vapid import keep_key, spell, unspell
from surfaces.push.vendor import checked

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENDPOINT = "https://push.example:8443/send/abc?x=1"


def test_it_is_made_at_its_first_use_and_stays_the_same(tmp_path: Path) -> None:
    first = keep_key(tmp_path / "key.pem")
    assert S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert keep_key(tmp_path / "key.pem").public == first.public
    assert len(unspell(first.public)) == 65
    assert os.listdir(tmp_path) == ["key.pem"]


def test_what_it_signs_holds_for_one_push_service_and_half_a_day(tmp_path: Path) -> None:
    key = keep_key(tmp_path / "key.pem")
    text = checked(key.authorize(ENDPOINT, "mailto:me@example.org", NOW), key.public)
    assert text == {
        "aud": "https://push.example:8443",
        "exp": int(NOW.timestamp()) + 12 * 3600,
        "sub": "mailto:me@example.org",
    }
    assert set(checked(key.authorize(ENDPOINT, None, NOW), key.public) or ()) == {"aud", "exp"}


def test_another_hub_cannot_sign_for_it(tmp_path: Path) -> None:
    ours, theirs = keep_key(tmp_path / "ours"), keep_key(tmp_path / "theirs")
    forged = theirs.authorize(ENDPOINT, None, NOW).replace(theirs.public, ours.public)
    with pytest.raises(InvalidSignature):
        checked(forged, ours.public)


def test_a_key_that_cannot_be_used_is_never_replaced(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    for content in (b"", b"nonsense", _other_kind()):
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(KeyLost, match="start over"):
            keep_key(file)
        assert file.read_bytes() == content
    file.unlink()
    keep_key(file)
    file.chmod(0o644)
    with pytest.raises(KeyLost, match="chmod 600"):
        keep_key(file)


def test_bytes_are_spelled_as_the_web_does() -> None:
    assert spell(b"\xfb\xff\xfe") == "-__-"
    assert unspell("-__-") == b"\xfb\xff\xfe"
    assert unspell("YQ") == unspell("YQ==") == b"a"
    for wrong in ("a", "Y Q", "Y!", "é"):
        with pytest.raises(ValueError, match=r"\w"):
            unspell(wrong)


def _other_kind() -> bytes:
    private = ed25519.Ed25519PrivateKey.generate()
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
