"""Someone types while cards appear: in a real terminal with a real hub, nothing is granted and no text is lost."""

import asyncio
from pathlib import Path

from handraise.model.answers import Allow
from handraise.model.asks import Permission
from surfaces.terminal.asked import NPM, PLAN
from surfaces.terminal.pseudo import ENTER, Pseudo
from surfaces.terminal.table import table

READY = "Esc to postpone"
SENTENCES = [
    "stop, that is wrong", "okay wait", "all good, but wait", "ask the owner first", "always run the tests", "a", "yes",
    "1 more thing", "say why first", "don't", "everything else first", "approve nothing",
]  # fmt: skip
PACE = 0.04


async def type_at(terminal: Pseudo, text: str) -> None:
    """As a person does: one key after the other."""
    for letter in text:
        terminal.type(letter)
        await asyncio.sleep(PACE)


async def test_sentences_while_cards_appear_are_said_and_grant_nothing(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1") as terminal:
            await terminal.until("Ctrl-D to leave")
            for number, sentence in enumerate(SENTENCES):
                half = len(sentence) // 2 if number % 2 else 0
                await type_at(terminal, sentence[:half])
                ask = await laid.ask(NPM if number % 3 else PLAN, session="s_1")
                await type_at(terminal, sentence[half:])
                await terminal.until(f"› {sentence}", "✋")
                terminal.type(ENTER)
                await terminal.until("Keys count in a moment")
                assert (await laid.hub.desk.ask(ask.id)).state == "open"
                await laid.hub.inbox.withdraw(ask.id, f"number {number}")
                await terminal.until(f"No longer needed: number {number} ", gone="▌")


async def test_a_sentence_after_a_long_look_goes_to_claude(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session()
        async with laid.terminal("attach", "s_1") as terminal:
            for sentence in ("all good, but wait", "yes but ask Ana", "edit it yourself"):
                ask = await laid.ask(NPM, session="s_1")
                await terminal.until("1 Allow once", READY)
                await type_at(terminal, sentence)
                await terminal.until(f"› {sentence}", "Tab to answer")
                terminal.type(ENTER)
                await terminal.until("Keys count in a moment")
                assert (await laid.hub.desk.ask(ask.id)).state == "open"
                await laid.hub.inbox.withdraw(ask.id, sentence)
                await terminal.until(f"No longer needed: {sentence} ", gone="▌")


async def test_several_cards_are_allowed_one_after_the_other_at_the_first_try(tmp_path: Path) -> None:
    async with table(tmp_path) as laid, laid.terminal("inbox") as terminal:
        asks = [await laid.ask(NPM) for _ in range(5)]
        for left in range(5, 0, -1):
            await terminal.until(f"request 1 of {left}" if left > 1 else "✋ Permission", READY)
            await terminal.confirm("a")
            await terminal.until(f"request 1 of {left - 1}" if left > 2 else "You allowed", gone=f"request 1 of {left}")
        await terminal.until("Nothing needs you")
        assert [await laid.given(each) for each in asks] == [Allow()] * 5


async def test_a_command_that_does_not_fit_is_not_run_unread(tmp_path: Path) -> None:
    body = Permission("Bash", {"command": "echo one\necho two\nrm -rf three"})
    async with table(tmp_path) as laid, laid.terminal("inbox", columns=80, rows=6) as terminal:
        ask = await laid.ask(body)
        await terminal.until("Run this command?", "lines not shown: v to read", "1 Allow once")
        await terminal.wait(lambda: "moment" not in terminal.screen)
        terminal.type("a")
        await terminal.until("❯ 1 Allow once", "Enter: Allow once")
        terminal.type(ENTER)
        await terminal.until("lines were not shown. v to read")
        assert (await laid.hub.desk.ask(ask.id)).state == "open"
        terminal.type("v")
        await terminal.until("Space for more")
        terminal.type(" ")
        await terminal.until("rm -rf three", "the end")
        terminal.type("\x1b")
        await terminal.until("❯ 1 Allow once")
        terminal.type(ENTER)
        await terminal.until("You allowed")
        assert await laid.given(ask) == Allow()
