"""Identifies us to a push service: the hub's own key pair, and the token it signs (RFC 8292)."""

import os
from base64 import b64decode, urlsafe_b64encode
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from stat import S_IMODE
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from msgspec import json

from handraise.surfaces.push.device_log import KeyLost
from handraise.surfaces.push.sealing import CURVE, public_point

_LIFE = timedelta(hours=12)
"""Push services accept at most a day."""


class HubKey:
    """The hub's own key pair. Devices are bound to its public key."""

    def __init__(self, private: ec.EllipticCurvePrivateKey) -> None:
        self._private = private
        self.public = spell(public_point(private.public_key()))
        """In the browsers' format."""

    def authorize(self, endpoint: str, contact: str | None, now: datetime) -> str:
        """The Authorization header for a message to this endpoint; `contact` is for the service's operator."""
        address = urlsplit(endpoint)
        claims = {"aud": f"{address.scheme}://{address.netloc}", "exp": int((now + _LIFE).timestamp())}
        if contact is not None:
            claims["sub"] = contact
        claim = b".".join(spell(json.encode(each)).encode() for each in ({"typ": "JWT", "alg": "ES256"}, claims))
        r, s = decode_dss_signature(self._private.sign(claim, ec.ECDSA(SHA256())))
        signed = spell(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return f"vapid t={claim.decode()}.{signed}, k={self.public}"


def keep_key(file: Path) -> HubKey:
    """The key in this file, created on first use; raises KeyLost."""
    try:
        return _read(file)
    except FileNotFoundError:
        pass
    _write(file, make_key())
    return _read(file)


def make_key() -> bytes:
    """A new private key, as PEM."""
    return ec.generate_private_key(CURVE).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_key(pem: bytes, where: str) -> HubKey:
    """The key; raises KeyLost, which names where it was."""
    try:
        private = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyLost(f"{where} cannot be used. Put it back from a backup, or remove it to start over.") from error
    if not isinstance(private, ec.EllipticCurvePrivateKey) or not isinstance(private.curve, ec.SECP256R1):
        raise KeyLost(f"{where} holds another kind of key. Put it back from a backup, or remove it to start over.")
    return HubKey(private)


def spell(raw: bytes) -> str:
    """Bytes as base64url without padding."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def unspell(text: str) -> bytes:
    """Raises ValueError."""
    return b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars="-_", validate=True)


def _read(file: Path) -> HubKey:
    try:
        if S_IMODE(file.stat().st_mode) & 0o077:
            raise KeyLost(f"Others can read {file}; make it private (chmod 600 {file}), or remove it to start over.")
        pem = file.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise KeyLost(f"{file} cannot be used. Put it back from a backup, or remove it to start over.") from error
    return read_key(pem, str(file))


def _write(file: Path, written: bytes) -> None:
    """Atomic; if another process was first, its file stays."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(opened, written)
        os.fsync(opened)
    finally:
        os.close(opened)
    with suppress(FileExistsError):
        os.link(draft, file)
    draft.unlink()
