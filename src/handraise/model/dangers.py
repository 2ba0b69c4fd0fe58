"""The danger: something in a call that people regret most when they overlook it. It warns, and decides nothing."""

from typing import Literal

from msgspec import Struct

DangerKind = Literal[
    "runs_download", "deletes_outside", "deletes_project", "deletes_unknown", "force_push", "discards", "device",
    "as_root", "lookalike", "direction", "lookalike_text", "direction_text",
]  # fmt: skip


class Danger(Struct, frozen=True):
    """What kind, and the words of the call that it is about."""

    kind: DangerKind
    what: str
