"""The project: a directory and its options."""

from datetime import datetime

from msgspec import Struct


class Patience(Struct, frozen=True, forbid_unknown_fields=True):
    """How long an asker waits, in seconds, for each kind; None is for ever."""

    question: float | None = None
    permission: float | None = None
    plan: float | None = None
    form: float | None = None


class Options(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a project sets for its sessions; None leaves it to the settings."""

    mode: str | None = None
    model: str | None = None
    allowed_tools: tuple[str, ...] = ()
    append_system_prompt: str | None = None
    add_dirs: tuple[str, ...] = ()
    ask_user_enabled: bool | None = None
    ask_user_timeout: int | None = None
    patience: Patience = Patience()
    parallel: int | None = None
    cost_limit_usd: float | None = None


class Project(Struct, frozen=True):
    """A directory and its options."""

    id: str
    name: str
    path: str
    options: Options = Options()
    created_at: datetime | None = None
