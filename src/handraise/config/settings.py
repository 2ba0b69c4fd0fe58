"""What can be set: a value for each section and key, with its default. Reads no file."""

from datetime import datetime
from ipaddress import ip_address
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from handraise import texts
from handraise.config.database import SharedDatabase, read_database
from handraise.config.telegram import TelegramSettings
from handraise.model.projects import Options, Patience
from handraise.model.rules import Decision, Rule
from handraise.policy.patterns import read_pattern

Mode = Literal["default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"]
BYPASS: Mode = "bypassPermissions"
Preset = Literal["off", "open", "project", "sealed"]
Text = Annotated[str, Meta(min_length=1)]
Span = Annotated[float, Meta(gt=0, le=365 * 24 * 3600, description="seconds, at most a year")]
Seconds = Span | Literal["never", "for ever"]
"""`for ever` is the older word for `never`: no timeout."""
AskUserTimeout = Annotated[
    int,
    Meta(ge=30, le=900, description="seconds. Less is too short to answer, and agents don't wait for more"),
]


class ClaudeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[claude]`: which Claude Code runs, and how."""

    model: Text | None = None
    allowed_tools: tuple[Text, ...] = ()
    append_system_prompt: Text | None = None
    permission_mode: Mode = "default"
    dangerously_skip_permissions: bool = False
    use_api_billing: bool = False
    allow_unsafe_plan_mode: bool = False
    path: Text | None = None

    def __post_init__(self) -> None:
        if self.dangerously_skip_permissions and self.permission_mode not in ("default", BYPASS):
            raise ValueError(
                f"[claude] dangerously_skip_permissions contradicts permission_mode = {self.permission_mode!r}."
                " Remove one of them."
            )

    @property
    def mode(self) -> Mode:
        """The mode in which a session starts."""
        return BYPASS if self.dangerously_skip_permissions else self.permission_mode


class PatienceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ask.patience]`: how long a session's own requests wait, by kind."""

    question: Seconds = "never"
    permission: Seconds = "never"
    plan: Seconds = "never"
    form: Seconds = "never"
    trust: Seconds = 600


class SandboxSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[sandbox]`: what Claude and its tools can access."""

    preset: Preset = "open"
    writable: tuple[Text, ...] = ()


class AskSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[ask]`: how long requests wait, and whether `ask_user` is offered."""

    patience: PatienceSettings = PatienceSettings()
    ask_user_enabled: bool = True
    ask_user_timeout: AskUserTimeout = 300


class WebSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[web]`: where the hub listens, and whom it trusts there."""

    host: Text = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="0 picks a free one")] = 8420
    tls_cert: Text | None = None
    tls_key: Text | None = None
    behind_proxy: bool = False
    trusted_header: Annotated[str, Meta(pattern="^[A-Za-z0-9-]+$", description="a header's name")] | None = None
    trusted_addresses: tuple[Text, ...] = ()
    allowed_hosts: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("[web] tls_cert and tls_key belong together. Set both or neither.")
        if self.trusted_header is not None and not self.trusted_addresses:
            raise ValueError(
                "[web] trusted_header needs trusted_addresses. Otherwise anyone who can reach the hub could send the"
                " header."
            )
        for each in self.trusted_addresses:
            try:
                ip_address(each)
            except ValueError:
                raise ValueError(f"[web] trusted_addresses must be IP addresses. {each!r} isn't one.") from None


Days = Annotated[float, Meta(gt=0, le=36500, description="days")]
Mebibytes = Annotated[int, Meta(ge=16, le=1024 * 1024, description="MiB, at least 16")]


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`: where the hub keeps its data, for how long and how much."""

    database: Text | None = None
    password_file: Text | None = None
    keep_days: Days | Literal["never", "for ever"] = 90.0
    keep_audit_days: Days | Literal["never"] = "never"
    max_database_mib: Mebibytes = 1024
    max_journals_mib: Mebibytes = 2048

    def __post_init__(self) -> None:
        if self.database is not None:
            try:
                found = read_database(self.database)
            except ValueError as error:
                raise ValueError(f"[store] database: {error}") from None
            if self.password_file is not None and isinstance(found, SharedDatabase) and found.has_password:
                raise ValueError("[store] database has a password, and so has password_file. Remove it from the URL.")


class MachineSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[machine]`: this computer, among those that share a database."""

    name: Annotated[str, Meta(min_length=1, max_length=60)] | None = None

    def __post_init__(self) -> None:
        if self.name is not None and (not self.name.isprintable() or self.name != self.name.strip()):
            raise ValueError("[machine] name must not begin or end with a space, or have hidden characters.")


class TerminalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[terminal]`: what `run`, `attach` and `inbox` do beside the screen."""

    title: bool = True
    notifications: Literal["off", "on", "osc9", "osc777"] = "off"


class PushSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[push]`: Web Push to devices that turn it on."""

    enabled: bool = True
    contact: (
        Annotated[str, Meta(pattern=r"^(mailto:[^@\s]+@[^@\s]+|https://\S+)$", description="mailto:… or https://…")]
        | None
    ) = None
    private_addresses: bool = False


class WebhookSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[webhooks]`: where events may be sent."""

    private_addresses: bool = False


class NotificationSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[notifications]`: channels that people add, such as ntfy and e-mail."""

    private_addresses: bool = False


class LimitSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[limits]`: how many sessions run at once, and how long they may be idle."""

    parallel: Annotated[int, Meta(ge=0, le=1000)] = 8
    """0: a gateway, which shows and answers sessions of other machines and runs none."""
    idle_seconds: Seconds = "never"
    move_seconds: Span = 30.0


class WrittenRule(Struct, frozen=True, forbid_unknown_fields=True):
    """`[[rule]]`: what a person may set of a `Rule`."""

    decision: Decision
    tool: Text | None = None
    command: Text | None = None
    path: Text | None = None
    server: Text | None = None
    project: Text | None = None
    mode: Mode | None = None
    message: str = ""
    expires_at: Annotated[datetime, Meta(tz=True)] | None = None

    def __post_init__(self) -> None:
        if self.command is not None and read_pattern(self.command) is None:
            raise ValueError("The command has an unclosed quote.")
        if self.decision == "allow" and not (self.tool or self.command or self.path or self.server):
            raise ValueError(
                "This rule would allow everything. Name a tool, command, path or server."
                " To never be asked, set [claude] dangerously_skip_permissions."
            )

    def rule(self, identity: str) -> Rule:
        """The rule itself."""
        return Rule(
            id=identity,
            decision=self.decision,
            tool=self.tool,
            command=self.command,
            path=self.path,
            server=self.server,
            project=self.project,
            mode=self.mode,
            message=self.message,
            expires_at=self.expires_at,
            source="settings",
        )


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of `handraise.toml` and the environment variables."""

    language: Text = texts.ENGLISH
    claude: ClaudeSettings = ClaudeSettings()
    sandbox: SandboxSettings = SandboxSettings()
    ask: AskSettings = AskSettings()
    web: WebSettings = WebSettings()
    push: PushSettings = PushSettings()
    webhooks: WebhookSettings = WebhookSettings()
    notifications: NotificationSettings = NotificationSettings()
    terminal: TerminalSettings = TerminalSettings()
    limits: LimitSettings = LimitSettings()
    store: StoreSettings = StoreSettings()
    machine: MachineSettings = MachineSettings()
    telegram: TelegramSettings = TelegramSettings()
    written_rules: tuple[WrittenRule, ...] = field(default=(), name="rule")

    def __post_init__(self) -> None:
        if self.language not in texts.languages():
            raise texts.UnknownLanguage(self.language)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In the order of the file, each named by its position."""
        return tuple(each.rule(f"handraise.toml#{number}") for number, each in enumerate(self.written_rules, 1))

    @property
    def options(self) -> Options:
        """What applies to a session unless its project overrides it."""
        return Options(
            mode=self.claude.mode,
            model=self.claude.model,
            allowed_tools=self.claude.allowed_tools,
            append_system_prompt=self.claude.append_system_prompt,
            sandbox=self.sandbox.preset,
            ask_user_enabled=self.ask.ask_user_enabled,
            ask_user_timeout=self.ask.ask_user_timeout,
            patience=_patience(self.ask.patience),
        )


class ProjectPatience(Struct, frozen=True, forbid_unknown_fields=True):
    """`[patience]` of a project; anything left out follows the settings."""

    question: Seconds | None = None
    permission: Seconds | None = None
    plan: Seconds | None = None
    form: Seconds | None = None


class ProjectSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything a project's `.handraise.toml` may set. Nothing here decides who can reach the hub."""

    mode: Mode | None = None
    model: Text | None = None
    allowed_tools: tuple[Text, ...] | None = None
    append_system_prompt: Text | None = None
    sandbox: Preset | None = None
    ask_user_enabled: bool | None = None
    ask_user_timeout: AskUserTimeout | None = None
    patience: ProjectPatience = ProjectPatience()
    written_rules: tuple[WrittenRule, ...] = field(default=(), name="rule")


def seconds_or_none(span: float | str) -> float | None:
    """How long something lasts; None means no limit."""
    return None if isinstance(span, str) else span


def _patience(settings: PatienceSettings) -> Patience:
    return Patience(
        question=seconds_or_none(settings.question),
        permission=seconds_or_none(settings.permission),
        plan=seconds_or_none(settings.plan),
        form=seconds_or_none(settings.form),
        trust=seconds_or_none(settings.trust),
    )
