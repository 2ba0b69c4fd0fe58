"""The project: a directory and its options."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import astuple, replace

from handraise.model.rules import ProjectRule, Rule
from handraise.model.tools import ASK_USER_SECONDS

SANDBOXES = ("off", "open", "project", "sealed")
"""Each lets Claude reach less than the one before it."""


class Patience(Struct, frozen=True, forbid_unknown_fields=True):
    """How long an asker waits, in seconds, for each kind; None is for ever."""

    question: float | None = None
    permission: float | None = None
    plan: float | None = None
    form: float | None = None
    trust: float | None = None
    """Until a session starts without what its directory brings."""

    def over(self, general: "Patience") -> "Patience":
        """This one, filled up with what holds for all."""
        pairs = zip(astuple(self), astuple(general), strict=True)
        return Patience(*(own if own is not None else theirs for own, theirs in pairs))


class Options(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a project sets for its sessions; None leaves it to the settings."""

    mode: str | None = None
    model: str | None = None
    allowed_tools: tuple[str, ...] = ()
    append_system_prompt: str | None = None
    add_dirs: tuple[str, ...] = ()
    sandbox: str | None = None
    """What Claude and its tools can reach: one of SANDBOXES."""
    ask_user_enabled: bool | None = None
    ask_user_timeout: int | None = None
    patience: Patience = Patience()
    parallel: int | None = None
    cost_limit_usd: float | None = None
    rules: tuple[ProjectRule, ...] = ()

    def over(self, general: "Options") -> "Options":
        """These, filled up with what holds for all. Limits and rules stay the project's own."""
        enabled = self.ask_user_enabled if self.ask_user_enabled is not None else general.ask_user_enabled
        return replace(
            self,
            mode=self.mode or general.mode,
            model=self.model or general.model,
            allowed_tools=self.allowed_tools or general.allowed_tools,
            append_system_prompt=self.append_system_prompt or general.append_system_prompt,
            add_dirs=self.add_dirs or general.add_dirs,
            sandbox=self.sandbox or general.sandbox,
            ask_user_enabled=True if enabled is None else enabled,
            ask_user_timeout=self.ask_user_timeout or general.ask_user_timeout or ASK_USER_SECONDS,
            patience=self.patience.over(general.patience),
        )


class Project(Struct, frozen=True):
    """A directory and its options."""

    id: str
    name: str
    path: str
    options: Options = Options()
    created_at: datetime | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In order, each named by its place."""
        numbered = enumerate(self.options.rules, 1)
        return tuple(each.rule(f"project {self.name}#{number}", self.id) for number, each in numbered)


def innermost(projects: Iterable[Project], directory: str) -> Project | None:
    """The project that a directory is in; of several, the innermost."""
    around = [each for each in projects if f"{directory}/".startswith(f"{each.path.rstrip('/')}/")]
    return max(around, key=lambda each: len(each.path), default=None)


class OwnFile(Struct, frozen=True):
    """What a directory's own settings file says. Claude could write it, so that its rules can only be stricter."""

    options: Options | None = None
    """All that holds there where the project says nothing; None leaves it to the settings."""
    rules: tuple[Rule, ...] = ()


class OwnFileUnfit(Exception):
    """The directory's own file cannot be used. The text says why; until then a person is asked about everything."""


def no_own_file(_directory: str) -> OwnFile:
    """For hubs that read none."""
    return OwnFile()
