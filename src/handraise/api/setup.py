"""The first steps: whether Claude Code can work here, and hints that go away for good."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, get_args

import msgspec
from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route, answer
from handraise.api.schemas import Done
from handraise.desk.interface import NotFound
from handraise.model.tokens import Role
from handraise.store.changes import SaveRecord
from handraise.store.interface import Store
from handraise.texts import t

KIND = "hints"
"""The records with the hints that a person dismissed, by their name."""
_TRIES = 5

HintName = Literal["terminal", "phone", "telegram"]
HINTS: tuple[HintName, ...] = get_args(HintName)
_FOR_ADMINS: tuple[HintName, ...] = ("terminal", "telegram")


class SetupCheck(Struct, frozen=True):
    """One check. If it failed, `command` is what to run, or empty if no command helps."""

    name: Literal["claude", "login"]
    ok: bool
    sentence: str
    advice: str = ""
    command: str = ""


class SetupSchema(Struct, frozen=True):
    """Whether sessions can be started on this machine. `directory` is the one that the hub was started in."""

    ready: bool
    checks: tuple[SetupCheck, ...]
    directory: str
    home: str


class HintsSchema(Struct, frozen=True):
    """The hints that you have neither followed nor dismissed."""

    hints: list[HintName]


class SetupRoutes:
    """`check` looks at this machine, which may take seconds; `is_done` says whether a hint was followed."""

    def __init__(
        self,
        store: Store,
        check: Callable[[], Awaitable[SetupSchema]],
        is_done: Callable[[HintName, ApiRequest], Awaitable[bool]],
    ) -> None:
        self._store = store
        self._check = check
        self._is_done = is_done
        self._one_at_a_time = asyncio.Lock()

    def routes(self) -> tuple[Route, ...]:
        return (
            Route(
                "GET",
                "/api/setup",
                "admin",
                self.look,
                "Check whether Claude Code can be started, and is signed in",
                returns=SetupSchema,
            ),
            Route("GET", "/api/hints", "viewer", self.hints, "List your open hints", returns=HintsSchema),
            Route("DELETE", "/api/hints/{id}", "viewer", self.dismiss, "Dismiss a hint", returns=Done),
        )

    async def look(self, _: ApiRequest) -> Response:
        # It starts programs: several pages wait for each other.
        async with self._one_at_a_time:
            return answer(await self._check())

    async def hints(self, request: ApiRequest) -> Response:
        dismissed = _dismissed(await self._store.record(KIND, request.desk.person.name))
        open_ones = [
            each
            for each in HINTS
            if each not in dismissed
            and _is_for(each, request.principal.role)
            and not await self._is_done(each, request)
        ]
        return answer(HintsSchema(open_ones))

    async def dismiss(self, request: ApiRequest) -> Response:
        name = request.path("id")
        if name not in HINTS:
            raise NotFound(t("error.no_hint", hint=name[:100]))
        person = request.desk.person.name
        # Another browser of the same person may dismiss another one at the same moment.
        for _ in range(_TRIES):
            stored = await self._store.record(KIND, person)
            wanted = sorted({*_dismissed(stored), name})
            applied = await self._store.apply([SaveRecord(KIND, person, msgspec.json.encode(wanted), stored)])
            if applied.took[0]:
                break
        return answer(Done())


def _is_for(hint: HintName, role: Role) -> bool:
    return role == "admin" or hint not in _FOR_ADMINS


def _dismissed(stored: bytes | None) -> frozenset[str]:
    try:
        return frozenset(msgspec.json.decode(stored, type=list[str])) if stored is not None else frozenset()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return frozenset()
