"""The instruction: what a person wants of a session that runs on another machine. Its hub carries it out."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from handraise.model.actors import Actor

InstructionKind = Literal[
    "interrupt", "stop", "mode", "model", "rename", "resume", "fork", "allow_denied", "revert", "remove"
]
InstructionState = Literal["waiting", "taken", "done", "refused", "withdrawn"]
IMMEDIATE: frozenset[InstructionKind] = frozenset({"interrupt", "mode", "model", "allow_denied", "revert", "remove"})
"""What makes sense only now: refused while the machine is away. The others wait for it."""
REPEATABLE: frozenset[InstructionKind] = frozenset({"stop", "resume", "rename", "mode", "model", "remove"})
"""What may be done twice without harm, if nobody knows whether it was done."""


class Instruction(Struct, frozen=True):
    """`value` is the mode, the model, the title, the action, or the digest and path of a file to revert; `words` is the
    message of a resume or a fork.
    """

    id: str
    machine: str
    session: str
    kind: InstructionKind
    by: Actor
    source: str
    at: datetime
    value: str = ""
    words: str | tuple[dict[str, Any], ...] | None = None
    state: InstructionState = "waiting"
    reason: str = ""
    """Why it was refused, as a sentence."""
    result: str = ""
    """The session that a fork made."""
    epoch: int = 0
    """Of the hub that took it."""
    settled_at: datetime | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it was carried out, refused or taken back."""
        return self.state in ("done", "refused", "withdrawn")
