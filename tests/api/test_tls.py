"""The certificate and the key: every problem is a sentence that names the file."""

from pathlib import Path

import pytest

from api.certificates import lock, make_certificate
from handraise.api.tls import CertificateUnfit, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_certificate(tmp_path / "cert", tmp_path / "key")
    make_certificate(tmp_path / "other cert", tmp_path / "other key")
    make_certificate(tmp_path / "both", tmp_path / "both")
    lock(tmp_path / "key", tmp_path / "locked")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_a_certificate_and_its_key_are_in_two_files_or_in_one(folder: Path) -> None:
    assert load(folder / "cert", folder / "key").get_ca_certs() == []
    assert load(folder / "both", None).cert_store_stats()["crl"] == 0


@pytest.mark.parametrize(
    ("certificate", "key", "names", "reason"),
    [
        ("none", "key", "none", "No such file"),
        ("cert", "none", "none", "No such file"),
        ("folder", "key", "folder", "Is a directory"),
        ("cert", "folder", "folder", "Is a directory"),
        ("empty", "key", "empty", "aren't a certificate and its key"),
        ("cert", "empty", "empty", "aren't a certificate and its key"),
        ("cert", "other key", "other key", "aren't a certificate and its key"),
        ("key", "cert", "cert", "aren't a certificate and its key"),
        ("cert", "locked", "locked", "has a passphrase"),
    ],
)
def test_anything_else_is_refused_with_the_file_and_the_reason(
    folder: Path, certificate: str, key: str, names: str, reason: str
) -> None:
    with pytest.raises(CertificateUnfit, match=reason) as refused:
        load(folder / certificate, folder / key)
    assert str(folder / names) in str(refused.value)
