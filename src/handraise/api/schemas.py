"""Types that several routes share; the others are beside their routes. The OpenAPI document is built from them."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from handraise.model.tokens import Role
from handraise.model.tools import ToolKind

REFERENCE = "#/components/schemas/"
AnAnswer = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Answer"})]
ASettlement = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Settlement"})]
AnAsk = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{REFERENCE}Ask"})]
Moment = Annotated[datetime, Meta(tz=True)]
"""Always with a time zone."""
Name = Annotated[str, Meta(min_length=1, max_length=200)]


def check_time(moment: datetime | None) -> None:
    """Raises ValueError for a time that doesn't exist in UTC: at either end of the calendar, zones lead beyond it."""
    try:
        if moment is not None:
            moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("This time is out of range") from None


class Done(Struct, frozen=True):
    """Done, or in progress."""

    done: Literal[True] = True


class Link(Struct, frozen=True):
    """A one-time sign-in link for one browser."""

    link: str


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """A token, or a one-time code."""

    secret: str


class Health(Struct, frozen=True):
    """The hub is up."""

    ok: bool
    version: str
    sandbox: bool = True
    """Whether Claude runs in a sandbox, away from the hub's files."""


class LoginPage(Struct, frozen=True):
    """What the sign-in page needs to speak the hub's language."""

    language: str
    texts: dict[str, Any]
    """The catalogue. Empty in English."""


class Me(Struct, frozen=True, omit_defaults=True):
    """Who you are to the hub."""

    name: str
    role: Role
    source: str
    seat: str = ""
    """Your browser or terminal. What you do from here has the same `seat` in its `by`."""
    no_sandbox: str = ""
    """Why there is no sandbox on this machine. Empty if there is one."""
    unsafe_claude: str = ""
    """The version of Claude Code, if commands can run without permission in it. Empty if it is safe."""
    telegram_trouble: str = ""
    """Why the Telegram bot doesn't work, and what to do. Empty if it works or there is none."""
    hub_trouble: str = ""
    """Why the hub can't work as usual, and what to do: another hub took over, or the database is away."""
    language: str = ""
    """The hub's language. If it isn't `en`, `/api/texts` has its catalogue."""
    offers_hook: bool = False
    """Whether to say how Claudes in terminals can ask here, too. Only for admins."""
    tools: dict[str, ToolKind] = {}
    """Claude's tools, for forms that name one."""
    shared: bool = False
    """Whether sessions may run on other machines: then `watch` in `/api/feed` says which are on the screen."""


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
    """The cursor no longer exists: read a list, and follow from its cursor."""

    kind: Literal["reset"] = field(default="reset")
    oldest: int = 0
    newest: int = 0
