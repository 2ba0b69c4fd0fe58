"""A push service on loopback, and the browsers it reaches: it checks the sender; they decrypt."""

import asyncio
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

DEADLINE = 60.0


def b64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True)
class Delivered:
    """One message as its browser received it."""

    headers: dict[str, str]
    claims: dict[str, Any]
    sealed: bytes
    notice: dict[str, Any]


@dataclass
class Phone:
    """A subscribed browser: its keys, and what reached it."""

    endpoint: str
    made_for: str
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    delivered: list[Delivered] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """What its push service answers to the next messages, instead of accepting them."""
    tried: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def point(self) -> bytes:
        return self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self, **more: Any) -> dict[str, Any]:
        """What its page sends to the hub."""
        keys = {"p256dh": b64(self.point), "auth": b64(self.auth)}
        return {"endpoint": self.endpoint, "keys": keys, "label": "A phone", "made_for": self.made_for, **more}

    def open(self, sealed: bytes) -> bytes:
        """As RFC 8291 tells a browser to do it."""
        salt, record, length = sealed[:16], int.from_bytes(sealed[16:20], "big"), sealed[20]
        sender, rest = sealed[21 : 21 + length], sealed[21 + length :]
        assert len(sealed) <= 4096
        assert len(rest) <= record
        shared = self.private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        keying = _derive(shared, self.auth, b"WebPush: info\0" + self.point + sender, 32)
        key = _derive(keying, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(keying, salt, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, rest, None).rstrip(b"\0")
        assert plain.endswith(b"\x02")
        return plain[:-1]

    async def until(self, fits: Callable[[dict[str, Any]], bool]) -> Delivered:
        """The first message that fits, whenever it comes."""
        async with asyncio.timeout(DEADLINE), self.changed:
            while True:
                for each in self.delivered:
                    if fits(each.notice):
                        return each
                await self.changed.wait()

    async def until_tried(self, times: int) -> None:
        async with asyncio.timeout(DEADLINE), self.changed:
            await self.changed.wait_for(lambda: self.tried >= times)

    @property
    def shown(self) -> list[tuple[str, str | None]]:
        """The messages, in short."""
        return [(each.notice["kind"], each.notice.get("ask")) for each in self.delivered]


class Vendor:
    """The push service. It rejects everything not signed by the hub whose key a browser is bound to."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._phones: dict[str, Phone] = {}

    def phone(self, made_for: str) -> Phone:
        """A new browser, bound to this key."""
        path = f"/send/{b64(os.urandom(24))}"
        made = Phone(self.base + path, made_for)
        self._phones[path] = made
        return made

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
            body = await reader.readexactly(int(headers["content-length"]))
            status, more = await self._judge(method, path, headers, body)
            lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in more.items())]
            writer.write("\r\n".join([*lines, "content-length: 0", "connection: close", "", ""]).encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a hub that was killed while sending
        finally:
            writer.close()

    async def _judge(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str]]:
        phone = self._phones.get(path)
        if phone is None or method != "POST":
            return 404, {}
        async with phone.changed:
            phone.tried += 1
            phone.changed.notify_all()
            if phone.refusals:
                return phone.refusals.pop(0)
            if headers.get("content-encoding") != "aes128gcm" or not headers.get("ttl", "").isdigit():
                return 400, {}
            claims = checked(headers["authorization"], phone.made_for)
            if claims is None or claims["aud"] != self.base:
                return 403, {}
            notice = msgspec.json.decode(phone.open(body))
            phone.delivered.append(Delivered(headers, claims, body, notice))
            phone.changed.notify_all()
        return 201, {}


@asynccontextmanager
async def vendor() -> AsyncIterator[Vendor]:
    """On any free port."""
    made = Vendor("")
    server = await asyncio.start_server(made.take, "127.0.0.1", 0)
    made.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made


def checked(authorization: str, made_for: str) -> dict[str, Any] | None:
    """What the hub claims, if signed with the key that the browser knows (RFC 8292)."""
    scheme, _, rest = authorization.partition(" ")
    parts = dict(each.strip().split("=", 1) for each in rest.split(","))
    if scheme != "vapid" or parts["k"] != made_for:
        return None
    text, _, signed = parts["t"].rpartition(".")
    raw = unb64(signed)
    signature = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(made_for))
    public.verify(signature, text.encode(), ec.ECDSA(SHA256()))
    head, _, claims = text.partition(".")
    assert msgspec.json.decode(unb64(head))["alg"] == "ES256"
    read: dict[str, Any] = msgspec.json.decode(unb64(claims))
    return read


def _derive(keying: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(keying)
