"""The token: how a person or agent on another machine signs in. Only its hash is stored."""

from datetime import datetime
from hashlib import sha256
from typing import Literal

from msgspec import Struct

Role = Literal["viewer", "approver", "admin", "agent"]
ROLES: tuple[Role, ...] = ("viewer", "approver", "admin", "agent")
_RANK: dict[Role, int] = {"viewer": 1, "approver": 2, "admin": 3}


class Token(Struct, frozen=True):
    """A named key with a role. A signed-in browser has one too, from a one-time code."""

    id: str
    name: str
    role: Role
    hash: str
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    kind: Literal["token", "browser", "code"] = "token"
    """A `code` signs in one browser, once."""
    project: str | None = None
    """For an agent: the ID of the project it works in, whatever it says."""

    @property
    def ends_at(self) -> datetime | None:
        """When it expires, or was revoked or expired; None means never."""
        return min((each for each in (self.revoked_at, self.expires_at) if each is not None), default=None)

    def is_good(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def may(role: Role, needed: Role) -> bool:
    """Viewers can see, approvers can also answer and send messages, admins can do everything. Agents are separate."""
    if needed == "agent" or role == "agent":
        return role == needed
    return _RANK[role] >= _RANK[needed]


def hash_of(secret: str) -> str:
    """What is stored of a secret. The secret has 256 random bits, so no salt or slow hash is needed."""
    return sha256(secret.encode()).hexdigest()
