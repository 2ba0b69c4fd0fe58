"""Signs what webhooks get, by the Standard Webhooks specification. Pure: randomness and time are arguments.

The signature is `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, one for each secret that counts.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta

from handraise.model.webhooks import WebhookSecret

ENTROPY = 24
"""How many random bytes a secret needs."""
OVERLAP = timedelta(hours=24)
"""For how long a secret that was replaced still signs, too."""
_PREFIX = "whsec_"
_MOST = 3
"""How many secrets sign at once."""


def make_secret(entropy: bytes) -> str:
    """A secret as receivers want it."""
    return _PREFIX + b64encode(entropy[:ENTROPY]).decode()


def rotated(secrets: Sequence[WebhookSecret], fresh: str, now: datetime) -> tuple[WebhookSecret, ...]:
    """The new secret, and the others for as long as they still count."""
    until = now + OVERLAP
    others = [WebhookSecret(each.secret, min(each.until or until, until)) for each in valid(secrets, now)]
    return (WebhookSecret(fresh), *others)[:_MOST]


def valid(secrets: Sequence[WebhookSecret], now: datetime) -> list[WebhookSecret]:
    """Those that sign now."""
    return [each for each in secrets if each.until is None or each.until > now]


def headers_of(secrets: Sequence[WebhookSecret], message: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers of one attempt."""
    seconds = int(now.timestamp())
    signatures = [sign(each.secret, message, seconds, body) for each in valid(secrets, now)]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(signatures),
    }


def sign(secret: str, message: str, seconds: int, body: bytes) -> str:
    """One signature."""
    key = b64decode(secret.removeprefix(_PREFIX))
    return "v1," + b64encode(hmac.digest(key, f"{message}.{seconds}.".encode() + body, "sha256")).decode()
