"""The project: a directory and its options, and whether they are valid."""

import re
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from handraise.model.machines import Place
from handraise.model.own_tools import ASK_USER_LEAST, ASK_USER_MOST, ASK_USER_SECONDS
from handraise.model.rules import ProjectRule, Rule
from handraise.texts import t

SANDBOXES = ("off", "open", "project", "sealed")
"""Each lets Claude access less than the one before it."""

MODES = ("default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
"""The permission modes that Claude Code knows."""
_TOOL = re.compile(r"[A-Za-z_][\w.*:-]*(\(.+\))?", re.DOTALL)
_YEAR = 365 * 24 * 3600
_MOST_PARALLEL = 1000


class Patience(Struct, frozen=True, forbid_unknown_fields=True):
    """How long an asker waits, in seconds, for each kind; None means no timeout."""

    question: float | None = None
    permission: float | None = None
    plan: float | None = None
    form: float | None = None
    trust: float | None = None
    """Until a session starts without its directory's own hooks, servers and permissions."""

    def over(self, general: "Patience") -> "Patience":
        """These values; what isn't set comes from `general`."""
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
    """What Claude and its tools can access: one of SANDBOXES."""
    ask_user_enabled: bool | None = None
    ask_user_timeout: int | None = None
    patience: Patience = Patience()
    parallel: int | None = None
    cost_limit_usd: float | None = None
    rules: tuple[ProjectRule, ...] = ()

    def over(self, general: "Options") -> "Options":
        """These values; what isn't set comes from `general`. Limits and rules are the project's own."""
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
    """A directory and its options. With many machines, it may have a directory on each."""

    id: str
    name: str
    path: str
    """On this machine; empty if it has none here."""
    options: Options = Options()
    created_at: datetime | None = None
    elsewhere: tuple[Place, ...] = ()
    """On other machines, by machine."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In order, each named by its position."""
        numbered = enumerate(self.options.rules, 1)
        return tuple(each.rule(f"project {self.name}#{number}", self.id) for number, each in numbered)


def places_of(project: Project, machine: str) -> list[Place]:
    """All of its directories, by machine; `machine` is the one that its path is on."""
    here = [Place(machine, project.path)] if project.path else []
    others = [place for place in project.elsewhere if place.machine != machine]
    return sorted([*here, *others], key=lambda place: place.machine)


def innermost(projects: Iterable[Project], directory: str) -> Project | None:
    """The project that a directory is in; of several, the innermost."""
    around = [each for each in projects if each.path and f"{directory}/".startswith(f"{each.path.rstrip('/')}/")]
    return max(around, key=lambda each: len(each.path), default=None)


class OwnFile(Struct, frozen=True):
    """A directory's own settings file. Claude could write it, so its rules can only be stricter."""

    options: Options | None = None
    """What applies there unless the project sets it; None leaves it to the settings."""
    rules: tuple[Rule, ...] = ()


class OwnFileUnfit(Exception):
    """The directory's own file is invalid. The text says why; until it is fixed, a person is asked about everything."""


def no_own_file(_directory: str) -> OwnFile:
    """For hubs without such files."""
    return OwnFile()


class BadOption(Exception):
    """An invalid value. The text names the key and says what it must be."""


def check(options: Options) -> None:
    """Raises BadOption unless every value is valid."""
    if options.mode is not None and options.mode not in MODES:
        raise BadOption(t("error.option.one_of", key="mode", values=", ".join(MODES)))
    if options.sandbox is not None and options.sandbox not in SANDBOXES:
        raise BadOption(t("error.option.one_of", key="sandbox", values=", ".join(SANDBOXES)))
    seconds = options.ask_user_timeout
    if seconds is not None and not ASK_USER_LEAST <= seconds <= ASK_USER_MOST:
        raise BadOption(t("error.option.ask_user", low=ASK_USER_LEAST, high=ASK_USER_MOST, seconds=seconds))
    for key in ("model", "append_system_prompt"):
        value = getattr(options, key)
        if value is not None and not value.strip():
            raise BadOption(t("error.option.empty", key=key))
    for key in ("allowed_tools", "add_dirs"):
        if not all(each.strip() for each in getattr(options, key)):
            raise BadOption(t("error.option.empty_part", key=key))
    for tool in options.allowed_tools:
        if not _TOOL.fullmatch(tool):
            raise BadOption(t("error.option.tool", tool=repr(tool)))
    for directory in options.add_dirs:
        if not directory.startswith("/"):
            raise BadOption(t("error.option.directory", directory=repr(directory)))
    for kind, patience in asdict(options.patience).items():
        if patience is not None and not 0 < patience <= _YEAR:
            raise BadOption(t("error.option.patience", kind=kind))
    if options.parallel is not None and not 1 <= options.parallel <= _MOST_PARALLEL:
        raise BadOption(t("error.option.parallel", most=_MOST_PARALLEL))
    if options.cost_limit_usd is not None and options.cost_limit_usd <= 0:
        raise BadOption(t("error.option.cost"))
    for number, rule in enumerate(options.rules, 1):
        _check_rule(rule, number)


def _check_rule(rule: ProjectRule, number: int) -> None:
    conditions = {key: getattr(rule, key) for key in ("tool", "command", "path", "server")}
    for key, value in conditions.items():
        if value is not None and not value.strip():
            raise BadOption(t("error.option.rule_empty", number=number, key=key))
    if rule.decision == "allow" and not any(conditions.values()):
        raise BadOption(t("error.option.rule_everything", number=number))
    if rule.mode is not None and rule.mode not in MODES:
        raise BadOption(t("error.option.rule_mode", number=number, values=", ".join(MODES)))
