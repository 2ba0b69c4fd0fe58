"""Serves a hub: its API on TCP and on a Unix socket, until it is stopped. Claudes keep running."""

import asyncio
import importlib
import os
import resource
import signal
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from handraise.api import tls
from handraise.api.agents import AgentRoutes
from handraise.api.app import WebApp
from handraise.api.changes import ChangeRoutes
from handraise.api.completing import CompletionRoutes
from handraise.api.devices import DeviceRoutes
from handraise.api.guard import OWNER, ApiGuard, TrustedProxy
from handraise.api.hooks import HookRoutes
from handraise.api.login import LoginRoutes
from handraise.api.long_requests import MOST, LongRequests
from handraise.api.metrics import Metrics
from handraise.api.notifications import NotificationRoutes
from handraise.api.pictures import Pictures
from handraise.api.requests import ApiRequest, Route
from handraise.api.server import Listener, listen_on_port, listen_on_socket
from handraise.api.setup import HintName, SetupRoutes
from handraise.api.static import StaticPage
from handraise.api.stream import Streams
from handraise.api.telegram import TelegramRoutes, TelegramState, UnreachableChat
from handraise.api.webhooks import WebhookRoutes
from handraise.api.workspace import SyncRoutes
from handraise.auth import Auth
from handraise.claude.tool_pictures import ToolPictures
from handraise.client.state import usual_state_folder
from handraise.desk.shared import LeaseKeeper
from handraise.hub.file_access import FileAccess, OwnFiles
from handraise.hub.file_finder import FileFinder
from handraise.hub.hub import Hub, HubConfig, elapsed, hub
from handraise.hub.retention import Retention, RetentionLimits
from handraise.hub.shared import StoreRecords
from handraise.model.actors import Person, TheHub
from handraise.model.items import NotificationFailed
from handraise.reach.notifications import Notifications
from handraise.reach.situation import ReachConfig
from handraise.serving import setup
from handraise.store.changes import PublishItems, SaveRecord
from handraise.store.interface import Store, StoreError
from handraise.surfaces.push.notifier import Notifier, PushConfig, SharedPush
from handraise.surfaces.webhooks.webhooks import WebhookConfig, Webhooks
from handraise.terminals.calls import UNSEEN
from handraise.terminals.claude_folder import folder_of
from handraise.workspace.hook_entry import PATH
from handraise.workspace.hook_offer import HookOffer

if TYPE_CHECKING:
    from handraise.surfaces.telegram.bot import TelegramBot
    from handraise.surfaces.telegram.leased_bot import LeasedBot
    from handraise.surfaces.telegram.people import TelegramConfig

_ADDRESS = "address"
_COOKIE = ("hub", "cookie")
"""The record with the cookie's name, in a shared database."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOCAL_CLIENTS = 256
"""How many connections the Unix socket allows."""
_OWN_FILES = 128
_FILES_A_SESSION = 8
_FEWEST_CLIENTS = 64
_FEWEST = 4
_LEAST_FILES = 40
"""How many files a hub has open without clients."""
_MOST_CLIENTS = 10_000
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Exposed(Exception):
    """The hub would be reachable without TLS from other machines."""


class ServeConfig(HubConfig, frozen=True):
    """A hub, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = 8420
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    link_host: str | None = None
    """The allowed host that links to the hub use."""
    proxy: TrustedProxy | None = None
    retention: RetentionLimits = field(default_factory=RetentionLimits)
    push: PushConfig = field(default_factory=PushConfig)
    webhooks: WebhookConfig = field(default_factory=WebhookConfig)
    notifications: ReachConfig = field(default_factory=ReachConfig)
    telegram: "TelegramConfig | None" = None
    """Without it, nothing of Telegram is imported."""
    telegram_trouble: str = ""
    """Why there is no bot although the settings have one."""
    most_open: int = MOST
    """How many requests of one token may be open at once."""
    unseen: float = UNSEEN
    """How long people are asked while a Claude that they run themselves shows no dialog, in seconds."""
    page: Path | None = None
    """The folder of the built page, if it isn't beside the code."""


class RunningHub(Struct, frozen=True):
    """A running hub. `base` is its address, `named` the one that browsers elsewhere use."""

    hub: Hub
    app: WebApp
    auth: Auth
    base: str
    named: str
    webhooks: Webhooks
    notifications: Notifications
    offers_hook: bool = False
    """Whether nobody has brought Claudes in terminals in yet."""
    telegram: "TelegramBot | LeasedBot | None" = None

    async def new_link(self) -> str:
        """A one-time sign-in link, valid for ten minutes. For a terminal, never for a file."""
        code = await self.auth.make_code(OWNER, "admin", TheHub(), "start")
        return f"{self.named}/login?code={quote(code)}"


@asynccontextmanager
async def serving(config: ServeConfig, streams: Streams | None = None) -> AsyncIterator[RunningHub]:
    """A hub that runs while this is entered."""
    _tls(config)  # refuse before any session is adopted
    async with (
        hub(config) as opened,
        reachable(opened, config, streams) as up,
    ):
        yield up


@asynccontextmanager
async def reachable(opened: Hub, config: ServeConfig, streams: Streams | None = None) -> AsyncIterator[RunningHub]:
    """A hub over HTTP while this is entered; leaving ends every stream immediately."""
    context = _tls(config)
    auth = Auth(opened.store, opened.clock, os.urandom)
    port = listen_on_port(config.host, config.port)
    base = _base(config, port.getsockname()[1])
    streams = streams or Streams()
    agent_routes = AgentRoutes(opened, config.state, base, streams.closing)
    streams.also = agent_routes.ask_user.as_event
    usual = Path(usual_state_folder())
    offer = HookOffer(config.state)
    folder = folder_of(config.environment)
    workspaces = SyncRoutes(opened.store, opened.pool.options, config.state, usual, f"{base}{PATH}", folder, offer)
    hooks = HookRoutes(opened, agent_routes.knowledge(terminals=True), folder, streams.closing, unseen=config.unseen)
    metrics = Metrics(opened, config.state, streams)
    link_base = _link_base(config, base)
    webhooks = _webhooks(config, opened, auth, link_base)
    notifications = _notifications(config, opened, auth, link_base)
    notifier = _notifier(config, opened, auth, notifications)
    notifications.situation.devices = lambda: notifier.owners
    streams.attached = notifications.attached
    metrics.notifications = notifications
    bot = _telegram(config, opened, link_base, notifications)
    files = _files(config, opened)
    opened.store.serve_lookups(files.serve)
    more = (
        metrics.route(),
        *workspaces.routes(),
        *Pictures(opened.store, files.picture).routes(),
        *ChangeRoutes(files).routes(),
        *DeviceRoutes(notifier).routes(),
        *WebhookRoutes(webhooks).routes(),
        *NotificationRoutes(notifications).routes(),
        *TelegramRoutes(lambda: _telegram_state(config, bot)).routes(),
        *CompletionRoutes(opened.store, files).routes(),
        *_setup(config, opened, offer, notifier).routes(),
        *agent_routes.routes(),
        *hooks.routes(),
    )
    cookie = await _cookie(opened.store, base)
    app = _app(config, opened, auth, cookie, link_base, streams, bot, more)
    metrics.statuses = app.answered
    here, elsewhere = room(config.limit, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    listeners = [
        Listener(app, port, tls=context, most=elsewhere),
        Listener(app, listen_on_socket(config.state / "hub.sock"), most=here, is_agent=opened.pool.has_raised),
    ]
    retention = Retention(opened.store, config.state / "sessions", opened.clock, config.retention)
    serves = _up(listeners, streams)
    sending = bot or nullcontext()
    async with auth, metrics, agent_routes, hooks, notifications, notifier, webhooks, retention, serves, sending:
        with _address(config.state, base):
            yield RunningHub(opened, app, auth, base, link_base, webhooks, notifications, offer.is_open, bot)


def where(state: Path) -> str | None:
    """The address of the hub that uses this state folder, if one is running."""
    try:
        return (state / _ADDRESS).read_text()
    except OSError:
        return None


@contextmanager
def signals() -> Iterator[asyncio.Event]:
    """Set by SIGTERM or Ctrl-C. A second one ends the process immediately."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def receive() -> None:
        stop.set()
        forget()

    def forget() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, receive)
    try:
        yield stop
    finally:
        forget()


async def _cookie(store: Store, base: str) -> str:
    """The cookie's name. Browsers send cookies to every port of a host: two hubs must not overwrite each other's.

    Hubs with one database share their tokens, and therefore the name: behind one host name, a sign-in counts for all.
    """
    if not store.shared:
        return f"handraise_{base.rpartition(':')[2]}"
    stored = await store.record(*_COOKIE)
    if stored is None:
        await store.apply([SaveRecord(*_COOKIE, f"handraise_{os.urandom(4).hex()}".encode(), None)])
        stored = await store.record(*_COOKIE) or b""
    return stored.decode()


def _app(
    config: ServeConfig,
    opened: Hub,
    auth: Auth,
    cookie: str,
    link_base: str,
    streams: Streams,
    bot: "TelegramBot | LeasedBot | None",
    more: tuple[Route, ...],
) -> WebApp:
    secure = config.tls_cert is not None or config.behind_proxy
    page = StaticPage(config.page)
    guard = ApiGuard(
        opened.desk,
        auth,
        opened.pool.may_hold,
        config.allowed_hosts,
        config.proxy,
        cookie=cookie,
        secure=secure,
        troubles=(StoreError,),
        stays=LongRequests(config.most_open),
    )
    opened.store.listen_to_coming_asks(guard.cards.foresee)
    opened.store.listen_to_asks(guard.cards.hear)
    proxies = config.proxy.addresses if config.proxy else frozenset()
    login = LoginRoutes(
        page,
        secure=secure,
        base=link_base,
        cookie=cookie,
        proxies=proxies,
        offer=HookOffer(config.state),
        no_sandbox=opened.wall.missing,
        unsafe_claude=lambda: opened.pool.starter.unsafe_version,
        telegram_trouble=lambda: _telegram_state(config, bot).trouble,
        hub_trouble=lambda: opened.trouble,
        shared=opened.store.shared,
    )
    streams.trouble = lambda: opened.trouble
    return WebApp(guard, login, streams, page, more)


def _files(config: ServeConfig, opened: Hub) -> FileAccess:
    hidden = [config.state, *config.hidden, *([config.database.parent] if isinstance(config.database, Path) else [])]
    finder = FileFinder(config.state / "listing.git", elapsed, hidden)
    pictures, start = ToolPictures(config.state / "sessions"), setup.own_directory(config.environment)
    own = OwnFiles(opened.reviewer, finder, pictures, start, hidden)
    return FileAccess(own, opened.store, opened.pool.owns, opened.dispatcher)


def _setup(config: ServeConfig, opened: Hub, offer: HookOffer, notifier: Notifier) -> SetupRoutes:
    async def is_done(hint: HintName, request: ApiRequest) -> bool:
        match hint:
            case "terminal":
                return not offer.is_open
            case "phone":
                return bool(await notifier.devices(request.principal))
            case "telegram":
                return config.telegram is not None or bool(config.telegram_trouble)
            case _:
                assert_never(hint)

    return SetupRoutes(opened.store, partial(setup.look, config.program, config.environment, config.limit), is_done)


def _notifier(config: ServeConfig, opened: Hub, auth: Auth, gate: Notifications) -> Notifier:
    by_proxy = config.proxy.role if config.proxy is not None and config.proxy.header else None
    return Notifier(
        opened.desk.seat(Person("handraise"), "push"),
        auth,
        config.state / "push",
        opened.clock,
        os.urandom,
        replace(config.push, proxied=by_proxy),
        SharedPush(StoreRecords(opened.store), elapsed) if opened.store.shared else None,
        gate,
    )


def _webhooks(config: ServeConfig, opened: Hub, auth: Auth, link_base: str) -> Webhooks:
    return Webhooks(
        opened.desk.seat(Person("handraise"), "webhooks"),
        auth,
        StoreRecords(opened.store),
        opened.clock,
        os.urandom,
        link_base,
        config.webhooks,
        elapsed if opened.store.shared else None,
    )


def _notifications(config: ServeConfig, opened: Hub, auth: Auth, link_base: str) -> Notifications:
    by_proxy = config.proxy.role if config.proxy is not None and config.proxy.header else None

    async def publish(failure: NotificationFailed) -> None:
        await opened.store.apply([PublishItems(None, opened.clock(), failure)])

    return Notifications(
        opened.desk.seat,
        auth,
        StoreRecords(opened.store),
        opened.clock,
        os.urandom,
        link_base,
        publish,
        replace(
            config.notifications,
            owner=OWNER,
            proxied=by_proxy,
            has_telegram=config.telegram is not None,
            grace=config.push.grace,
        ),
        elapsed if opened.store.shared else None,
    )


def _telegram(
    config: ServeConfig, opened: Hub, link_base: str, gate: Notifications
) -> "TelegramBot | LeasedBot | None":
    """The bot, imported only by hubs that have one."""
    if config.telegram is None:
        return None
    module = importlib.import_module("handraise.surfaces.telegram.bot")
    sessions = importlib.import_module("handraise.surfaces.telegram.sessions")

    def make() -> "TelegramBot":
        bot: TelegramBot = module.TelegramBot(
            lambda person: opened.desk.seat(person, module.SOURCE),
            config.telegram,
            config.state / "telegram",
            opened.clock,
            os.urandom,
            link_base,
            sessions.TelegramSessions,
            machine=opened.store.machine,
            shared=opened.store.shared,
            gate=gate,
        )
        return bot

    if not opened.store.shared:
        return make()
    leased = importlib.import_module("handraise.surfaces.telegram.leased_bot")
    lease = LeaseKeeper(StoreRecords(opened.store), leased.lease_name(config.telegram.token), elapsed)
    one_of_many: LeasedBot = leased.LeasedBot(make, lease)
    return one_of_many


def _telegram_state(config: ServeConfig, bot: "TelegramBot | LeasedBot | None") -> TelegramState:
    if bot is None:
        return TelegramState(bool(config.telegram_trouble), trouble=config.telegram_trouble)
    status = bot.status()
    chats = tuple(UnreachableChat(each.chat, each.reason) for each in status.chats)
    return TelegramState(True, status.bot, status.trouble, chats, status.waiting, status.is_elsewhere)


@asynccontextmanager
async def _up(listeners: Sequence[Listener], streams: Streams) -> AsyncIterator[None]:
    # Not a task group: the caller's errors come out unwrapped.
    tasks = [asyncio.create_task(each.serve()) for each in listeners]
    try:
        yield
    finally:
        streams.close()
        for each in listeners:
            each.stop()
        await asyncio.gather(*tasks)


@contextmanager
def _address(state: Path, base: str) -> Iterator[None]:
    """Saves the address for a second hub, and for commands that look for this one."""
    (state / _ADDRESS).write_text(base)
    try:
        yield
    finally:
        (state / _ADDRESS).unlink(missing_ok=True)
        (state / "hub.sock").unlink(missing_ok=True)


def room(sessions: int, files: int) -> tuple[int, int]:
    """How many clients the socket and TCP may have, so that enough files are left for the hub itself.

    If files are scarce, both get few: many remote connections must not lock the owner out.
    """
    if files == resource.RLIM_INFINITY:
        return _LOCAL_CLIENTS, _MOST_CLIENTS
    left = files - _OWN_FILES - _FILES_A_SESSION * sessions
    if left < _LOCAL_CLIENTS + _FEWEST_CLIENTS:
        half = min(_FEWEST_CLIENTS, max(_FEWEST, (files - _LEAST_FILES) // 2))
        return half, half
    return _LOCAL_CLIENTS, min(_MOST_CLIENTS, left - _LOCAL_CLIENTS)


def _tls(config: ServeConfig) -> ssl.SSLContext | None:
    if config.tls_cert is not None:
        return tls.load(config.tls_cert, config.tls_key)
    if config.host not in _LOOPBACK and not config.behind_proxy:
        raise Exposed(
            f"Listening on {config.host} without TLS would expose the hub to the network. "
            "Set [web] tls_cert and tls_key, or [web] behind_proxy = true if a proxy handles TLS."
        )
    return None


def _base(config: ServeConfig, port: int) -> str:
    scheme = "https" if config.tls_cert is not None else "http"
    host = "127.0.0.1" if config.host in ("0.0.0.0", "::") else config.host  # noqa: S104 (compared, not bound)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _link_base(config: ServeConfig, base: str) -> str:
    """The name that remote browsers use for the hub, if it serves TLS to them."""
    if config.link_host is None:
        return base
    if config.behind_proxy:
        return f"https://{config.link_host}"
    if config.tls_cert is None:
        return base
    return (
        f"https://{config.link_host}"
        if ":" in config.link_host
        else f"https://{config.link_host}:{base.rpartition(':')[2]}"
    )
