"""Machines over HTTP, and what waits for one that is away: instructions and messages, which can be taken back."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from handraise.api.requests import ApiRequest, Route, answer
from handraise.api.schemas import Done, Name
from handraise.desk.interface import MachineSummary
from handraise.model.actors import Actor
from handraise.model.instructions import Instruction, InstructionKind, InstructionState
from handraise.model.machines import Machine


class MachineSchema(Struct, frozen=True, kw_only=True):
    """A machine: a computer with a hub of its own. `away_since` is null while it is online."""

    id: str
    name: str
    version: str
    """The version of Handraise there."""
    limit: int
    """How many sessions run there at once; with 0 it only serves the page and the API."""
    started_at: datetime
    seen_at: datetime
    away_since: datetime | None


class MachineSummarySchema(MachineSchema, frozen=True, kw_only=True):
    """A machine, and what there is on it."""

    sessions: int
    """Those that have not ended."""
    open_asks: int
    here: bool
    """Whether you are talking to its hub."""


class Machines(Struct, frozen=True):
    """All machines, by name."""

    machines: list[MachineSummarySchema]


class MachineChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A new name."""

    name: Name


class InstructionSchema(Struct, frozen=True):
    """What someone wants of a session on another machine. `text` is the message of a resume or a fork."""

    id: str
    machine: str
    session: str
    kind: InstructionKind
    value: str
    text: str
    by: Actor
    source: str
    at: datetime
    state: InstructionState


class Instructions(Struct, frozen=True):
    """What its machine has not done yet, oldest first."""

    instructions: list[InstructionSchema]


async def list_machines(request: ApiRequest) -> Response:
    return answer(Machines([_summary(each) for each in await request.desk.machines()]))


async def rename_machine(request: ApiRequest) -> Response:
    name = request.body(MachineChange).name
    return answer(_machine(await request.desk.rename_machine(request.path("id"), name)))


async def forget_machine(request: ApiRequest) -> Response:
    await request.desk.forget_machine(request.path("id"))
    return answer(Done())


async def list_instructions(request: ApiRequest) -> Response:
    session = (await request.desk.session(request.path("id"))).session.id
    return answer(Instructions([_instruction(each) for each in await request.desk.instructions(session)]))


async def withdraw_instruction(request: ApiRequest) -> Response:
    await request.desk.withdraw_instruction(request.path("id"))
    return answer(Done())


async def withdraw_say(request: ApiRequest) -> Response:
    await request.desk.withdraw_say(request.path("id"))
    return answer(Done())


def _machine(machine: Machine) -> MachineSchema:
    return MachineSchema(
        id=machine.id,
        name=machine.name,
        version=machine.version,
        limit=machine.limit,
        started_at=machine.started_at,
        seen_at=machine.seen_at,
        away_since=machine.away_since,
    )


def _summary(seen: MachineSummary) -> MachineSummarySchema:
    machine = seen.machine
    return MachineSummarySchema(
        id=machine.id,
        name=machine.name,
        version=machine.version,
        limit=machine.limit,
        started_at=machine.started_at,
        seen_at=machine.seen_at,
        away_since=machine.away_since,
        sessions=seen.sessions,
        open_asks=seen.open_asks,
        here=seen.here,
    )


def _instruction(instruction: Instruction) -> InstructionSchema:
    return InstructionSchema(
        id=instruction.id,
        machine=instruction.machine,
        session=instruction.session,
        kind=instruction.kind,
        value=instruction.value,
        text=_text(instruction.words),
        by=instruction.by,
        source=instruction.source,
        at=instruction.at,
        state=instruction.state,
    )


def _text(words: object) -> str:
    """The text of a message; its images are left out."""
    if isinstance(words, tuple):
        return "\n".join(each["text"] for each in words if each.get("type") == "text")
    return words if isinstance(words, str) else ""


ROUTES = (
    Route("GET", "/api/machines", "viewer", list_machines, "List machines", returns=Machines, compress=True),
    Route("PATCH", "/api/machines/{id}", "admin", rename_machine, "Rename a machine", MachineChange, MachineSchema),
    Route(
        "DELETE",
        "/api/machines/{id}",
        "admin",
        forget_machine,
        "Forget a machine that is away and has no sessions",
        returns=Done,
    ),
    Route(
        "GET",
        "/api/sessions/{id}/instructions",
        "viewer",
        list_instructions,
        "List what the session's machine has not done yet",
        returns=Instructions,
    ),
    # Not for approvers: one could be an admin's order to stop.
    Route(
        "DELETE",
        "/api/instructions/{id}",
        "admin",
        withdraw_instruction,
        "Take back what the machine has not done yet",
        returns=Done,
    ),
    Route(
        "DELETE",
        "/api/says/{id}",
        "approver",
        withdraw_say,
        "Take back a message that Claude has not received",
        returns=Done,
    ),
)
