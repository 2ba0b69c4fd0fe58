"""The checks of the Telegram bot, with a Bot API server on loopback."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

from handraise.client.telegram import TelegramApi
from handraise.config.telegram import TelegramSettings
from handraise.doctor.checks import Finding
from handraise.doctor.examine import examine
from handraise.doctor.telegram import check_telegram
from surfaces.telegram.bot_api import BOT, TOKEN, BotApi, bot_api


async def findings(api: BotApi, token: str = TOKEN, **settings: Any) -> list[Finding]:
    wanted = TelegramSettings(api=api.base, **{"allowed": (1001,), **settings})
    return await asyncio.to_thread(check_telegram, wanted, token)


def lines(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.verdict, f"{each.sentence} → {each.advice}".removesuffix(" → ")) for each in found]


async def test_a_bot_that_works_is_named_with_its_chats() -> None:
    async with bot_api() as api:
        api.someone(1001, "Ana").start()
        assert lines(await findings(api)) == [
            ("ok", f"Connected as @{BOT.username}."),
            ("ok", "The bot can write to Ana (1001)."),
        ]


async def test_a_token_that_fails_is_an_error_with_the_next_step() -> None:
    async with bot_api() as api:
        (found,) = lines(await findings(api, "1:abcdefghijklmnopqrstuvwxyz"))
        assert found[0] == "fail"
        assert found[1].startswith("Telegram rejects the bot's token. → Run: handraise telegram setup.")


async def test_a_server_that_cannot_be_reached_is_an_error() -> None:
    async with bot_api() as api:
        with api.outage():
            (found,) = await findings(api)
        assert (found.verdict, found.sentence.startswith(f"Can't reach {api.base}: ")) == ("fail", True)
        assert "Check the network" in found.advice


async def test_who_has_not_written_yet_is_told() -> None:
    async with bot_api() as api:
        api.someone(1001, "Ana")
        found = lines(await findings(api, names={"1001": "ana"}))
        sentence = "ana (1001) hasn't started the bot yet and gets no requests."
        assert found[1] == ("warn", f"{sentence} → Ask them to open https://t.me/{BOT.username} and press Start.")


async def test_a_chat_without_the_bot_and_one_that_moved_are_errors() -> None:
    async with bot_api() as api:
        ana = api.someone(1001, "Ana")
        group = api.group("Shop", ana)
        moved = api.upgrade(group)
        found = lines(await findings(api, chats=(-100999, group.number)))
        assert found[1][0] == "fail"
        assert "can't write to chat -100999: Bad Request: chat not found. → Add @" in found[1][1]
        moving = f"Chat {group.number} has a new ID: {moved.number}. → Change the ID in [telegram]."
        assert found[2] == ("fail", moving)


async def test_privacy_mode_is_explained_for_groups_only() -> None:
    async with bot_api() as api:
        ana = api.someone(1001, "Ana")
        ana.start()
        group = api.supergroup("Shop", ana)
        found = await findings(api, chats=(group.number,))
        assert any("turn off Group Privacy" in each.sentence and each.verdict == "ok" for each in found)
        assert not any("Group Privacy" in each.sentence for each in await findings(api))


async def test_topics_without_a_forum_and_nobody_who_may_answer_are_warned_of() -> None:
    async with bot_api() as api:
        group = api.supergroup("Shop", api.someone(1001, "Ana"))
        found = lines(await findings(api, allowed=(), chats=(group.number,), session_topics=True))
        assert [each for each in found if each[0] == "warn"] == [
            ("warn", "session_topics is on, but no chat has topics. → Turn on topics in the group, or set [telegram]"
             " session_topics = false."),
            ("warn", "Nobody can answer in Telegram: [telegram] allowed is empty. → Add your Telegram user ID to"
             " allowed, or run: handraise telegram setup"),
        ]  # fmt: skip


def test_a_clock_that_is_off_and_a_server_without_encryption_are_warned_of() -> None:
    class Stub(TelegramApi):
        def call(self, method: str, *, wait: float = 0, **_: object) -> Any:
            self.skew = 3 * 3600.0 + wait
            return {"username": "bot"} if method == "getMe" else {"id": 1, "type": "private", "first_name": "Ana"}

    settings = TelegramSettings(allowed=(1,), api="http://bots.example:8081")
    found = lines(check_telegram(settings, "", Stub("", settings.api)))
    assert ("warn", "This machine's clock is 3 h off. → Turn on time synchronization. Deadlines and quiet hours"
            " depend on it.") in found  # fmt: skip
    assert any("isn't encrypted" in sentence for _, sentence in found)


async def test_the_examination_includes_the_bot_and_never_the_token(tmp_path: Path) -> None:
    async with bot_api() as api:
        api.someone(1001, "Ana").start()
        for number, mode in zip(itertools.count(), (0o600, 0o644), strict=False):
            token = tmp_path / f"token{number}"
            token.write_text(TOKEN)
            token.chmod(mode)
            settings = tmp_path / "handraise.toml"
            settings.write_text(f"[telegram]\ntoken_file = '{token}'\nallowed = [1001]\napi = '{api.base}'\n")
            settings.chmod(0o600)
            environ = {"HANDRAISE_CONFIG": str(settings), "HANDRAISE_STATE": str(tmp_path / "state")}
            report = await examine(environ, tmp_path)
            found = [each for each in report.findings if each.name == "telegram"]
            assert TOKEN not in repr(report)
            assert found[0].verdict == ("ok" if mode == 0o600 else "fail")
        assert f"Run: chmod 600 {token}" in found[0].sentence
