"""What a person typed about a channel, checked; and the channel that it makes. Secrets are kept apart from the rest."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from handraise.channels.apprise_services import is_allowed, read_schema, unusable_options
from handraise.channels.model import KINDS, Channel, ChannelKind
from handraise.model.addresses import is_loopback, is_public
from handraise.model.names import BadName, check_name
from handraise.texts import t

PUBLIC_NTFY = "https://ntfy.sh"
_LONGEST = 1000
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")
# What ntfy serves itself, and refuses as a topic.
_NO_TOPICS = {"docs", "static", "file", "app", "metrics", "account", "settings", "signup", "login", "v1"}
_HOST = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?")
# Stricter than RFC 5322: no quotes, comments or spaces, so that an address is never read in two ways.
_MAILBOX = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?P<domain>[^@\s]+)")
MOST_RECIPIENTS = 20
_LONGEST_MAILBOX = 254
PORTS = {"starttls": 587, "tls": 465, "none": 25}
_LAST_PORT = 65535


class ChannelField(Struct, frozen=True):
    """One thing to type. A secret is never shown again."""

    name: str
    required: bool = False
    secret: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()


FIELDS: dict[ChannelKind, tuple[ChannelField, ...]] = {
    "ntfy": (
        ChannelField("server", default=PUBLIC_NTFY),
        ChannelField("topic", required=True),
        ChannelField("user"),
        ChannelField("password", secret=True),
        ChannelField("token", secret=True),
    ),
    "email": (
        ChannelField("host", required=True),
        ChannelField("security", default="starttls", choices=tuple(PORTS)),
        ChannelField("port"),
        ChannelField("user"),
        ChannelField("password", secret=True),
        ChannelField("sender", required=True),
        ChannelField("recipients", required=True),
    ),
    "apprise": (ChannelField("url", required=True, secret=True),),
}
"""What a person types for each kind, in the order of a form."""


class ChannelConfig(Struct, frozen=True):
    """A channel as people may see it."""

    id: str
    name: str
    kind: ChannelKind
    fields: dict[str, str]
    """For Apprise: `service`, the schema of the URL. For others: what was typed, in a normal form."""
    with_content: bool = False
    """Whether what Claude wrote may be sent there, rather than that something waits, and a link."""


class ChannelSecrets(Struct, frozen=True):
    """What must not be shown: passwords, tokens, Apprise's URLs."""

    values: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ChannelSecrets({', '.join(sorted(self.values))})"

    def get(self, name: str) -> str:
        """Empty if there is none."""
        return self.values.get(name, "")


class CheckedChannel(Struct, frozen=True):
    """A channel that could work."""

    config: ChannelConfig
    secrets: ChannelSecrets


class ChannelUnusable(ValueError):
    """This can't be a channel. The text is a sentence; `field` is what to change."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


def check(
    channel_id: str,
    name: str,
    kind: str,
    typed: Mapping[str, str],
    *,
    with_content: bool = False,
    private: bool = False,
    before: ChannelSecrets | None = None,
) -> CheckedChannel:
    """What was typed, as a channel. Raises ChannelUnusable. Looks up no names.

    `private` also allows addresses that aren't on the public internet. `before` has the secrets of a channel that is
    changed: one that wasn't typed again stays.
    """
    if kind not in KINDS:
        raise ChannelUnusable(t("channels.check.kind", kinds=", ".join(KINDS)), "kind")
    try:
        name = check_name(name)
    except BadName as error:
        raise ChannelUnusable(str(error), "name") from error
    values = _typed(kind, typed, before or ChannelSecrets())
    match kind:
        case "ntfy":
            _check_ntfy(values, private=private)
        case "email":
            _check_email(values, private=private)
        case "apprise":
            _check_apprise(values)
    secret = {field.name for field in FIELDS[kind] if field.secret}
    config = ChannelConfig(
        channel_id, name, kind, {key: each for key, each in values.items() if each and key not in secret}, with_content
    )
    return CheckedChannel(config, ChannelSecrets({key: each for key, each in values.items() if each and key in secret}))


def utc() -> datetime:
    """The time now."""
    return datetime.now(UTC)


def connect(
    config: ChannelConfig,
    secrets: ChannelSecrets,
    *,
    private: bool = False,
    clock: Callable[[], datetime] = utc,
) -> Channel:
    """The channel itself. Connects to nothing yet. Raises ChannelError if what it needs isn't installed."""
    # Each needs a client of its own, and a hub without such a channel needs none of them.
    match config.kind:
        case "ntfy":
            from handraise.channels.ntfy import NtfyChannel  # noqa: PLC0415

            return NtfyChannel(config, secrets, private=private)
        case "email":
            from handraise.channels.smtp import EmailChannel  # noqa: PLC0415

            return EmailChannel(config, secrets, private=private, clock=clock)
        case "apprise":
            from handraise.channels.apprise_channel import AppriseChannel  # noqa: PLC0415

            return AppriseChannel(config, secrets, private=private)


def _typed(kind: ChannelKind, typed: Mapping[str, str], before: ChannelSecrets) -> dict[str, str]:
    fields = {field.name: field for field in FIELDS[kind]}
    for name in typed:
        if name not in fields:
            raise ChannelUnusable(t("channels.check.unknown", field=name[:40], fields=", ".join(fields)), "kind")
    values = {}
    for name, field in fields.items():
        value = typed.get(name, "").strip()
        if not value and field.secret:
            value = before.get(name)
        if len(value) > _LONGEST:
            raise ChannelUnusable(t("channels.check.long", field=name, most=_LONGEST), name)
        # A header, a command or a URL is made of it: nothing in it may end a line.
        if not value.isprintable():
            raise ChannelUnusable(t("channels.check.hidden", field=name), name)
        if not value and field.required:
            raise ChannelUnusable(t(f"channels.check.missing.{kind}_{name}"), name)
        if value and field.choices and value not in field.choices:
            raise ChannelUnusable(t("channels.check.choice", field=name, choices=", ".join(field.choices)), name)
        values[name] = value or field.default
    return values


def _check_ntfy(values: dict[str, str], *, private: bool) -> None:
    values["server"] = _read_server(values["server"], private=private)
    if not _TOPIC.fullmatch(values["topic"]) or values["topic"] in _NO_TOPICS:
        raise ChannelUnusable(t("channels.check.topic"), "topic")
    if values["token"] and (values["user"] or values["password"]):
        raise ChannelUnusable(t("channels.check.two_logins"), "token")
    if not values["token"].isascii():
        raise ChannelUnusable(t("channels.check.token"), "token")
    _check_login(values)
    if ":" in values["user"]:
        # Basic authentication has no way to say it.
        raise ChannelUnusable(t("channels.check.colon"), "user")


def _read_server(server: str, *, private: bool) -> str:
    try:
        parts = urlsplit(server if "://" in server else f"https://{server}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    address = is_address(host)
    if not (address or _is_host(host)) or port == 0:
        raise ChannelUnusable(t("channels.check.server"), "server")
    if "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise ChannelUnusable(t("channels.check.server_only"), "server")
    if parts.scheme not in ("http", "https"):
        raise ChannelUnusable(t("channels.check.server"), "server")
    if parts.scheme == "http" and (not private or (address and is_public(host))):
        raise ChannelUnusable(t("channels.check.https"), "server")
    if address and not private and not is_public(host):
        raise ChannelUnusable(t("channels.check.private"), "server")
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + ("" if port is None else f":{port}")


def _check_email(values: dict[str, str], *, private: bool) -> None:
    host, port = values["host"].lower(), values["port"] or str(PORTS[values["security"]])
    if not (is_address(host) or _is_host(host)):
        raise ChannelUnusable(t("channels.check.mail_host"), "host")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) <= _LAST_PORT):
        raise ChannelUnusable(t("channels.check.port"), "port")
    if is_address(host) and not private and not is_public(host):
        raise ChannelUnusable(t("channels.check.private"), "host")
    if values["security"] == "none" and is_address(host) and not is_loopback(host):
        raise ChannelUnusable(t("channels.check.plain"), "security")
    _check_login(values)
    for field in ("user", "password"):
        if not values[field].isascii():
            # smtplib can't sign in with it.
            raise ChannelUnusable(t("channels.check.ascii", field=field), field)
    recipients = [each.strip() for each in values["recipients"].split(",") if each.strip()]
    for field, addresses in (("sender", [values["sender"]]), ("recipients", recipients)):
        for each in addresses:
            if not is_mailbox(each):
                raise ChannelUnusable(t("channels.check.mailbox", address=each), field)
    if not 0 < len(recipients) <= MOST_RECIPIENTS:
        raise ChannelUnusable(t("channels.check.recipients", most=MOST_RECIPIENTS), "recipients")
    values |= {"host": host, "port": port, "recipients": ", ".join(dict.fromkeys(recipients))}


def _check_login(values: dict[str, str]) -> None:
    if values["user"] and not values["password"]:
        raise ChannelUnusable(t("channels.check.no_password"), "password")
    if values["password"] and not values["user"]:
        raise ChannelUnusable(t("channels.check.no_user"), "user")


def _check_apprise(values: dict[str, str]) -> None:
    schema = read_schema(values["url"])
    if schema is None:
        raise ChannelUnusable(t("channels.check.apprise"), "url")
    if not is_allowed(schema):
        raise ChannelUnusable(t("channels.check.service", service=schema), "url")
    if options := unusable_options(values["url"]):
        raise ChannelUnusable(t("channels.check.options", options=", ".join(options)), "url")
    values["service"] = schema


def is_address(host: str) -> bool:
    """Whether it is an IP address, rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_host(host: str) -> bool:
    return bool(_HOST.fullmatch(host)) and ".." not in host


def is_mailbox(address: str) -> bool:
    """Whether it is an e-mail address that every server reads the same way."""
    found = _MAILBOX.fullmatch(address)
    return found is not None and len(address) <= _LONGEST_MAILBOX and _is_host(found["domain"])
