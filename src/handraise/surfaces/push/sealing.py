"""Encrypts a message for one browser, so that the push service can't read it (RFC 8291). Pure."""

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()
SALT = 16
"""How many random bytes a message needs."""
_RECORD = 4096
_POINT = 65
_SECRET = 16
_OVERHEAD = SALT + 4 + 1 + _POINT + 1 + 16
MOST = _RECORD - _OVERHEAD
"""The most bytes a message may have: every push service accepts this much, and some no more."""
_STEP = 1024
_LAST = b"\x02"


class NoSuchKey(Exception):
    """The browser's keys are invalid."""


def public_point(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key in the browsers' format."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def read_point(point: bytes) -> ec.EllipticCurvePublicKey:
    """A public key in the browsers' format; raises NoSuchKey."""
    if len(point) != _POINT:
        raise NoSuchKey("A key of a browser has 65 bytes.")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
    except (ValueError, InvalidKey) as error:
        raise NoSuchKey("This is no point of the curve P-256.") from error


def seal(
    message: bytes,
    point: bytes,
    secret: bytes,
    *,
    ours: ec.EllipticCurvePrivateKey,
    salt: bytes,
    padded: bool = True,
) -> bytes:
    """The body to post, in one record. `ours` and `salt` are used once.

    A padded one has one of four lengths, so that its length reveals little.
    """
    if len(secret) != _SECRET:
        raise NoSuchKey("The secret of a browser has 16 bytes.")
    if len(message) > MOST:
        raise ValueError(f"a message has at most {MOST} bytes, not {len(message)}")
    shared = ours.exchange(ec.ECDH(), read_point(point))
    sender = public_point(ours.public_key())
    keying = _derive(shared, secret, b"WebPush: info\0" + point + sender, 32)
    key = _derive(keying, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(keying, salt, b"Content-Encoding: nonce\0", 12)
    padding = bytes(min(-(-len(message) // _STEP) * _STEP, MOST) - len(message)) if padded else b""
    sealed = AESGCM(key).encrypt(nonce, message + _LAST + padding, None)
    return salt + _RECORD.to_bytes(4, "big") + bytes([_POINT]) + sender + sealed


def _derive(keying: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(keying)
