"""The shapes that all of HTTP shares; those of one noun are beside it. The OpenAPI document is made of them."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from handraise.model.tokens import Role

REFERENCE = "#/components/schemas/"
AnAnswer = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Answer"})]
ASettlement = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Settlement"})]
AnAsk = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Ask"})]
Moment = Annotated[datetime, Meta(tz=True)]
"""With a time zone: without one nobody knows when it is."""
Name = Annotated[str, Meta(min_length=1, max_length=200)]


def check_time(moment: datetime | None) -> None:
    """At the end of time a zone leads beyond it: what is kept must be a time in every zone. Raises ValueError."""
    try:
        if moment is not None:
            moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("This time is too far away") from None


class Done(Struct, frozen=True):
    """It is done, or on its way."""

    done: Literal[True] = True


class Link(Struct, frozen=True):
    """A link that logs one browser in, once."""

    link: str


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """A token, or a one-time code."""

    secret: str


class Health(Struct, frozen=True):
    """The hub is up."""

    ok: bool
    version: str
    sandbox: bool = True
    """Whether Claudes are kept from the hub's own files."""


class Me(Struct, frozen=True, omit_defaults=True):
    """Who the hub takes the caller for."""

    name: str
    role: Role
    source: str
    seat: str = ""
    """Which browser or terminal this is: what was done from here has the same `seat` in its `by`."""
    no_sandbox: str = ""
    """Why Claudes cannot be sandboxed on this machine; empty where they can."""
    language: str = ""
    """The language of the hub; where it is not `en`, `/api/texts` has its catalogue."""


class Problem(Struct, frozen=True, omit_defaults=True):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    settlement: ASettlement | None = None
    ask: AnAsk | None = None


class FailedSchema(Struct, frozen=True):
    """Every error has this shape."""

    error: Problem


class Reset(Struct, frozen=True):
    """The place in the feed is gone: read a snapshot, and follow from its cursor."""

    kind: Literal["reset"] = field(default="reset")
    oldest: int = 0
    newest: int = 0
