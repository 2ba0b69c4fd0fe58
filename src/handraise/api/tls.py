"""Loads the certificate and key for TLS, or says in a sentence what is wrong with them."""

import ssl
from pathlib import Path


class CertificateUnfit(Exception):
    """These files can't be used for TLS. The text says why."""


class _Locked(Exception):
    """The key has a passphrase, and nobody can type it."""


def load(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Raises CertificateUnfit."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    key = key or certificate
    for file in (certificate, key):
        try:
            with file.open("rb") as opened:
                opened.read(1)
        except OSError as error:
            raise CertificateUnfit(f"Can't read {file}: {error.strerror}.") from error
    try:
        made.load_cert_chain(certificate, key, password=_refuse)
    except _Locked as error:
        raise CertificateUnfit(
            f"The key {key} has a passphrase, which the hub can't ask for. "
            f"Create a key without one: openssl pkey -in {key} -out FILE"
        ) from error
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).replace("_", " ").lower()
        raise CertificateUnfit(
            f"{certificate} and {key} aren't a certificate and its key in PEM format ({reason})."
        ) from error
    return made


def _refuse() -> str:
    raise _Locked
