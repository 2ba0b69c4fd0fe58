"""Checks the Telegram bot: its token, its chats, and the clock. Blocks, with a deadline for each call."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from handraise.client.telegram import LOOPBACK, TelegramApi, TelegramError, TelegramRefused
from handraise.config.telegram import TelegramSettings
from handraise.doctor.checks import Finding
from handraise.model.names import reveal
from handraise.texts import span, t

_NAME = "telegram"
_SECONDS = 5.0
_MOST_SKEW = 120.0
_SERVER_ERROR = 500


def check_telegram(settings: TelegramSettings, token: str, api: TelegramApi | None = None) -> list[Finding]:
    """Whether the bot works, and everything that keeps people from using it."""
    api = api or TelegramApi(token, settings.api, timeout=_SECONDS)
    try:
        bot = api.call("getMe")
        chats = {chat: _chat(api, chat) for chat, _ in settings.destinations}
    except TelegramError as error:
        return [Finding(_NAME, "fail", *trouble(error, settings.api))]
    name = reveal(str(bot.get("username", "")))
    findings = [Finding(_NAME, "ok", t("doctor.telegram.connected", bot=name))]
    findings += [_chat_finding(settings, name, chat, found) for chat, found in chats.items()]
    reached = [found for found in chats.values() if isinstance(found, dict)]
    return [*findings, *_hints(settings, bot, reached), *_clock(api.skew)]


def trouble(error: TelegramError, api: str, *, chat: int | None = None) -> tuple[str, str]:
    """What went wrong with a call, to a chat if it was to one, and the next step."""
    if not isinstance(error, TelegramRefused):
        return t("doctor.telegram.unreachable", api=api, why=str(error)), t("doctor.telegram.network")
    if error.is_bad_token:
        return t("doctor.telegram.bad_token"), t("doctor.telegram.new_token")
    if error.is_conflict:
        return t("doctor.telegram.conflict"), t("doctor.telegram.one_program")
    if chat is not None and error.retry_after is None and error.code < _SERVER_ERROR:
        return t("doctor.telegram.no_chat", chat=chat, why=reveal(error.reason)), t("doctor.telegram.see_status")
    return t("doctor.telegram.refused", why=reveal(error.reason)), t("doctor.telegram.later")


def title_of(chat: dict[str, Any]) -> str:
    """What a chat is called."""
    names = (chat.get("title"), f"{chat.get('first_name', '')} {chat.get('last_name', '')}".strip())
    return reveal(str(next((each for each in names if each), chat.get("id"))))


def _chat(api: TelegramApi, chat: int) -> dict[str, Any] | TelegramRefused:
    try:
        found: dict[str, Any] = api.call("getChat", chat_id=chat)
    except TelegramRefused as error:
        return error
    return found


def _chat_finding(settings: TelegramSettings, bot: str, chat: int, found: dict[str, Any] | TelegramRefused) -> Finding:
    if isinstance(found, dict):
        return Finding(_NAME, "ok", t("doctor.telegram.chat", chat=f"{title_of(found)} ({chat})"))
    if found.migrated_to is not None:
        moved = t("doctor.telegram.moved", chat=chat, to=found.migrated_to)
        return Finding(_NAME, "fail", moved, t("doctor.telegram.change_number"))
    if chat in settings.allowed:
        silent = t("doctor.telegram.silent_user", name=settings.name_of(chat), number=chat)
        return Finding(_NAME, "warn", silent, t("doctor.telegram.start", bot=bot))
    missing = t("doctor.telegram.no_chat", chat=chat, why=reveal(found.reason))
    return Finding(_NAME, "fail", missing, t("doctor.telegram.add_bot", bot=bot))


def _hints(settings: TelegramSettings, bot: dict[str, Any], chats: list[dict[str, Any]]) -> list[Finding]:
    findings = []
    if any(each.get("type") != "private" for each in chats) and bot.get("can_read_all_group_messages") is False:
        findings.append(Finding(_NAME, "ok", t("doctor.telegram.privacy")))
    if settings.session_topics and not any(each.get("is_forum") for each in chats):
        findings.append(Finding(_NAME, "warn", t("doctor.telegram.no_forum"), t("doctor.telegram.make_forum")))
    if not settings.allowed:
        findings.append(Finding(_NAME, "warn", t("doctor.telegram.nobody"), t("doctor.telegram.allow")))
    if settings.api.startswith("http:") and urlsplit(settings.api).hostname not in LOOPBACK:
        plain = t("doctor.telegram.plain_http", api=settings.api)
        findings.append(Finding(_NAME, "warn", plain, t("doctor.telegram.https")))
    return findings


def _clock(skew: float | None) -> list[Finding]:
    if skew is None or abs(skew) < _MOST_SKEW:
        return []
    return [
        Finding(
            _NAME,
            "warn",
            t("doctor.telegram.clock", duration=span(timedelta(seconds=abs(skew)))),
            t("doctor.telegram.set_clock"),
        )
    ]
