"""Certificates and keys, made with OpenSSL for one test."""

import subprocess
from pathlib import Path


def make_certificate(certificate: Path, key: Path) -> None:
    """For localhost, self-signed; both may be in one file."""
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    with certificate.open("ab") as file:
        file.write(made.stdout)


def lock(key: Path, locked: Path) -> None:
    """The same key, with a passphrase."""
    subprocess.run(
        ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked],
        check=True,
        capture_output=True,
    )
