"""The certificate and the key that the hub speaks TLS with, or what is wrong with them, in a sentence."""

import ssl
from pathlib import Path


class CertificateUnfit(Exception):
    """There is no TLS with these files. The text says why."""


class _Locked(Exception):
    """The key has a passphrase, and nobody is there to type it."""


def load(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Raises CertificateUnfit."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    key = key or certificate
    for file in (certificate, key):
        try:
            with file.open("rb") as opened:
                opened.read(1)
        except OSError as error:
            raise CertificateUnfit(f"{file} cannot be read: {error.strerror}.") from error
    try:
        made.load_cert_chain(certificate, key, password=_refuse)
    except _Locked as error:
        raise CertificateUnfit(
            f"The key {key} has a passphrase, which nobody can type when the hub starts by itself. Make one without: "
            f"openssl pkey -in {key} -out FILE"
        ) from error
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).replace("_", " ").lower()
        raise CertificateUnfit(
            f"{certificate} and {key} are not a certificate and its key in PEM form ({reason})."
        ) from error
    return made


def _refuse() -> str:
    raise _Locked
