"""The steps of `handraise telegram setup`: a token, a code, a chat, the settings and a first message."""

import secrets
import sys
import time
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from handraise.cli.client import HubClient, HubError, NoHub
from handraise.cli.telegram_settings import NotSaved, WrittenTelegram
from handraise.client.telegram import TelegramApi, TelegramError, TelegramRefused, TelegramUnreachable
from handraise.config.files import read_token
from handraise.config.telegram import TOKEN, place
from handraise.config.toml_section import assignments
from handraise.doctor.telegram import title_of, trouble
from handraise.model.names import BadName, check_name, reveal
from handraise.texts import t

_TRIES = 3
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without letters that look like others."""
_POLL = 20
_PAUSE = 2.0
_MOST_FAILURES = 10
_DEFAULT_ROLE = "approver"
_CAN = {
    "viewer": "reads, but can't answer",
    "approver": "answers requests, but can't start sessions",
    "admin": "answers requests, and starts and stops sessions",
}


class _TokenRejected(click.ClickException):
    """Another token can be tried."""


class SetupWishes(Struct, frozen=True):
    """The options of the command."""

    state: Path
    api: str | None = None
    token_file: Path | None = None
    role: str | None = None
    project: str | None = None
    is_sure: bool = False
    seconds: float = 600


class CodeMessage(Struct, frozen=True):
    """The message with the code: who sent it, and where."""

    user: int
    name: str
    username: str
    chat: int
    topic: int | None
    title: str
    is_private: bool

    @property
    def sender(self) -> str:
        handle = f"@{reveal(self.username)}, " if self.username else ""
        return f"{reveal(self.name)} ({handle}{self.user})"

    @property
    def where(self) -> str:
        if self.is_private:
            return "a private chat"
        return f"the chat “{self.title}” ({self.written_place})"

    @property
    def written_place(self) -> int | str:
        """As in the settings."""
        return self.chat if self.topic is None else f"{self.chat}:{self.topic}"


class TelegramSetup:
    """One walk through it. Nothing is changed before the last question is answered."""

    def __init__(self, wishes: SetupWishes, written: WrittenTelegram) -> None:
        self._wishes = wishes
        self._written = written
        self._address = wishes.api or written.api

    def run(self) -> None:
        api, bot, is_new = self._bot()
        self._refuse_second_poller(bot)
        found = self._receive_code(api, bot)
        person = self._person(found)
        if found.is_private and not person and found.user not in self._written.get("allowed", ()):
            click.echo("Nothing was changed.")
            sys.exit(1)
        changes = {**person, **self._place(found), **self._origin()}
        self._save(changes, api.token if is_new else None)
        self._greet(api, found)
        self._say_what_is_next()

    def _bot(self) -> tuple[TelegramApi, dict[str, Any], bool]:
        """The bot of the settings, or of a token that is typed; and whether that token is to be saved."""
        named = read_token(self._wishes.token_file) if self._wishes.token_file is not None else None
        token = named or self._written.token()
        if token is not None:
            try:
                return (*self._connect(token), False)
            except _TokenRejected as error:
                if named is not None:
                    raise
                click.echo(error.message)
        if not sys.stdin.isatty():
            return (*self._connect(_checked(sys.stdin.readline())), True)
        click.echo("In Telegram, open https://t.me/BotFather, send /newbot, and answer its questions.")
        click.echo("Then paste the token here. It isn't shown.")
        return (*self._connect_typed(), True)

    def _connect_typed(self) -> tuple[TelegramApi, dict[str, Any]]:
        for _ in range(_TRIES - 1):
            try:
                return self._connect(_typed_token())
            except _TokenRejected as error:
                click.echo(error.message)
        return self._connect(_typed_token())

    def _connect(self, token: str) -> tuple[TelegramApi, dict[str, Any]]:
        api = TelegramApi(token, self._address)
        try:
            bot = api.call("getMe")
        except TelegramError as error:
            if isinstance(error, TelegramRefused) and error.is_bad_token:
                raise _TokenRejected(
                    "Telegram rejects this token. Copy it again: BotFather shows it under /mybots."
                ) from None
            raise click.ClickException(" ".join(trouble(error, self._address))) from None
        click.echo(f"Connected as @{reveal(bot['username'])}: https://t.me/{bot['username']}")
        return api, bot

    def _refuse_second_poller(self, bot: dict[str, Any]) -> None:
        """A running hub with the same bot would receive the code instead of us."""
        try:
            used = HubClient(self._wishes.state).get("/api/telegram").get("bot")
        except (NoHub, HubError):
            return
        if used == bot["username"]:
            raise click.ClickException(
                f"The running hub uses @{used} and would receive the code. Stop the hub, run this again, and start the"
                " hub afterwards. Sessions keep running."
            )

    def _receive_code(self, api: TelegramApi, bot: dict[str, Any]) -> CodeMessage:
        code = "".join(secrets.choice(_ALPHABET) for _ in range(8))
        link = f"https://t.me/{bot['username']}"
        click.echo(f"\nNow send this message to the bot:\n\n    /start {code}\n")
        click.echo(f"  Private chat:  {link}?start={code}")
        click.echo(f"  Group:         {link}?startgroup={code}")
        click.echo("  Topic:         add the bot to the group, then send the message in the topic\n")
        try:
            click.echo("Waiting for it. Press Ctrl-C to cancel.")
            found = CodeReader(api, self._address, self._wishes.seconds).read(code)
        except KeyboardInterrupt:
            click.echo("\nCanceled. Nothing was changed.", err=True)
            sys.exit(130)
        click.echo(f"Received from {found.sender} in {found.where}.")
        return found

    def _origin(self) -> dict[str, object]:
        """Where the bot comes from, if the command says so."""
        origin: dict[str, object] = {"api": self._wishes.api} if self._wishes.api else {}
        if self._wishes.token_file is not None:
            origin |= {"token": None, "token_file": str(self._wishes.token_file.absolute())}
        return origin

    def _person(self, found: CodeMessage) -> dict[str, object]:
        allowed = list(self._written.in_file("allowed", ()))
        if found.user in self._written.get("allowed", ()):
            click.echo(f"{found.sender} can already use the bot.")
            return self._role(found)
        role = self._wishes.role or _DEFAULT_ROLE
        if not self._confirm(f"Let them use the bot as {role} ({_CAN[role]})?"):
            return {}
        names = {**self._written.in_file("names", {}), str(found.user): self._ask_name(found)}
        changes: dict[str, object] = {"allowed": [*allowed, found.user], "names": names}
        return changes | self._role(found)

    def _role(self, found: CodeMessage) -> dict[str, object]:
        """The change of their role, if the command names another one."""
        roles = self._written.in_file("roles", {})
        if self._wishes.role in (None, roles.get(str(found.user), _DEFAULT_ROLE)):
            return {}
        return {"roles": {**roles, str(found.user): self._wishes.role}}

    def _ask_name(self, found: CodeMessage) -> str:
        in_use = {*self._written.get("names", {}).values()}
        default = _fit(found.name) or str(found.user)
        default = str(found.user) if default in in_use else default
        for _ in range(_TRIES if not self._wishes.is_sure else 0):
            typed = click.prompt("Their name in Handraise", default=default)
            if (name := _fit(typed)) and name not in in_use:
                return name
            click.echo("That name is taken or can't be used. Choose another.")
        return default

    def _place(self, found: CodeMessage) -> dict[str, object]:
        if self._wishes.project is not None:
            routes = {**self._written.in_file("routes", {}), self._wishes.project: found.written_place}
            return {"routes": routes}
        chats = list(self._written.in_file("chats", ()))
        if any(place(each) == (found.chat, found.topic) for each in self._written.get("chats", ())):
            return {}
        if not found.is_private:
            wanted = self._confirm("Send requests to this chat?")
        else:
            # Without chats, every allowed user gets them in a private chat anyway.
            wanted = bool(chats) and self._confirm("Send requests to this private chat, too?", default=False)
        return {"chats": [*chats, found.written_place]} if wanted else {}

    def _confirm(self, question: str, *, default: bool = True) -> bool:
        return default if self._wishes.is_sure else click.confirm(question, default=default)

    def _save(self, changes: dict[str, object], token: str | None) -> None:
        if not changes and token is None:
            click.echo("Nothing to change.")
            return
        try:
            saved = self._written.save(changes, token)
        except NotSaved as error:
            click.echo(f"{self._written.file} was not changed: {error}\nAdd these lines to it:\n", err=True)
            click.echo("\n".join(error.lines), err=True)
            if token is not None:
                private = self._written.token_path
                click.echo(f"\nPut the token into {private}, then run: chmod 600 {private}", err=True)
            sys.exit(1)
        click.echo(f"Saved in {self._written.file}:")
        for line in assignments(saved):
            click.echo(f"  {line}")
        for variable in self._written.overridden(saved):
            click.echo(f"Note: {variable} is set and overrides the file. Change it, too.")

    def _greet(self, api: TelegramApi, found: CodeMessage) -> None:
        try:
            send_text(api, found.chat, found.topic, t("telegram.setup.connected"))
        except TelegramError as error:
            click.echo(f"The first message could not be sent. {' '.join(trouble(error, self._address))}", err=True)
            return
        click.echo("Sent a first message.")

    def _say_what_is_next(self) -> None:
        if HubClient(self._wishes.state).is_there():
            click.echo("Restart the hub to use the bot. Sessions keep running.")
        else:
            click.echo("Start the hub to use the bot: handraise serve")


class CodeReader:
    """Reads the bot's messages until one has the code. No hub gets those before it."""

    def __init__(self, api: TelegramApi, address: str, seconds: float) -> None:
        self._api = api
        self._address = address
        self._end = time.monotonic() + seconds
        self._offset = 0
        self._failures = 0
        self._has_warned = False

    def read(self, code: str) -> CodeMessage:
        """Raises ClickException when it takes too long."""
        while (left := self._end - time.monotonic()) > 0:
            for update in self._next(min(_POLL, int(left) + 1)):
                self._offset = max(self._offset, int(update["update_id"]) + 1)
                found = code_message(update.get("message"), code)
                if found is not None:
                    # In a private chat it stays for the hub, which learns from it that it can write there.
                    if not found.is_private:
                        self._next(0)
                    return found
        raise click.ClickException(
            "The code expired: nobody sent it in time. Nothing was changed. Run this again for a new code."
        )

    def _next(self, seconds: int) -> list[dict[str, Any]]:
        try:
            updates: list[dict[str, Any]] = self._api.call(
                "getUpdates", wait=seconds, offset=self._offset, timeout=seconds
            )
        except TelegramRefused as error:
            self._ride_out(error)
        except TelegramUnreachable as error:
            self._failures += 1
            if self._failures > _MOST_FAILURES:
                raise click.ClickException(" ".join(trouble(error, self._address))) from None
        else:
            self._failures = 0
            return updates
        time.sleep(_PAUSE)
        return []

    def _ride_out(self, error: TelegramRefused) -> None:
        if error.is_conflict and "webhook" in error.reason.lower():
            raise click.ClickException(
                "This bot has a webhook, so another program receives its messages. Use another bot, or remove the"
                " webhook there."
            )
        if not error.is_conflict and error.retry_after is None and error.code < 500:
            raise click.ClickException(" ".join(trouble(error, self._address)))
        if error.is_conflict and not self._has_warned:
            self._has_warned = True
            click.echo(
                "Another program, such as a hub, is receiving this bot's messages. Stop it, and setup continues."
            )


def send_text(api: TelegramApi, chat: int, topic: int | None, text: str) -> None:
    """A plain message; raises TelegramError."""
    where = {"chat_id": chat} if topic is None else {"chat_id": chat, "message_thread_id": topic}
    api.call("sendMessage", text=text, **where)


def code_message(message: dict[str, Any] | None, code: str) -> CodeMessage | None:
    """The message, if a person sent the code in it."""
    words = str((message or {}).get("text", "")).split()
    if not message or len(words) != 2 or words[0].partition("@")[0] != "/start" or words[1].upper() != code:
        return None
    sender, chat = message.get("from", {}), message["chat"]
    if sender.get("is_bot", True):
        click.echo("The code came from an anonymous admin or a channel. Send it as yourself.")
        return None
    return CodeMessage(
        user=sender["id"],
        name=f"{sender.get('first_name', '')} {sender.get('last_name', '')}".strip(),
        username=sender.get("username", ""),
        chat=chat["id"],
        topic=message.get("message_thread_id") if message.get("is_topic_message") else None,
        title=title_of(chat),
        is_private=chat["type"] == "private",
    )


def _typed_token() -> str:
    return _checked(click.prompt("Token", hide_input=True))


def _checked(typed: str) -> str:
    token = typed.strip()
    if not TOKEN.fullmatch(token):
        raise _TokenRejected("This isn't a bot token. It should look like 123456789:ABC… Copy it from BotFather.")
    return token


def _fit(name: str) -> str:
    try:
        return check_name(name)
    except BadName:
        return ""
