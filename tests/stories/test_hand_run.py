"""Stories of a Claude that a person runs in a terminal: it asks there and here, and the first answer counts."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from socket import gethostname

import pytest

from handraise.cli.client import HubClient
from handraise.demo.model import ScriptedModel
from handraise.desk.interface import Refused, TooLate
from handraise.model.actors import Person
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny, Trusting
from handraise.model.asks import Answered, Permission, Plan, Question
from handraise.model.items import ActionEnded, ActionStarted, Said, Text
from handraise.model.rules import Rule
from stories.hand_run import (
    DIALOG,
    SOON,
    asking,
    by_hand,
    first_of_all,
    let_go,
    reason,
    shut,
    synced,
    until_delivered,
    until_dialog,
    until_heard,
    until_phase,
    until_text,
    withdrawn_after,
)
from stories.outsiders import Yard, next_ask, until_settled, until_turn_ended
from stories.serving_house import command, serve, settle_in, surroundings
from stories.serving_house import desk as desk_of
from surfaces.terminal.pseudo import DOWN, ENTER, ESCAPE

SHIFT_TAB = "\x1b[Z"
OFFER = "To answer Claude sessions you start yourself here, too: handraise project sync (or --user)"


async def test_whoever_answers_first_counts(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with by_hand(yard.work, yard.environment) as terminal:
            # Here first: the dialog closes, and Claude goes on.
            await terminal.say("run one")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Permission)
            assert (asked.asker, asked.project) == ("session", (await desk.projects())[0].id)
            await terminal.until(DIALOG)
            await desk.answer(asked.id, Allow(), asked.digest)
            await terminal.until("Finished.", gone=DIALOG)
            assert (yard.work / "one").exists()
            assert (await until_delivered(desk, asked.id)).delivered_at is not None

            # There first: the card is withdrawn while the command still runs, and says so.
            shut(yard.work)
            await terminal.say("hold two")
            asked = await next_ask(desk)
            await terminal.until(DIALOG)
            await terminal.press(ENTER, gone=DIALOG)
            settled = await until_settled(desk, asked.id)
            assert reason(settled) == "answered in the terminal"
            assert not heard[1:]
            assert withdrawn_after(settled, yard.home) < SOON
            with pytest.raises(TooLate):
                await desk.answer(asked.id, Allow())
            await let_go(yard.work)
            await until_heard(terminal, heard, 2)

            # Esc there: the same.
            await terminal.say("run three")
            asked = await next_ask(desk)
            await terminal.until(DIALOG)
            await terminal.press(ESCAPE, gone=DIALOG)
            assert reason(await until_settled(desk, asked.id)) == "answered in the terminal"
            assert not (yard.work / "three").exists()

            # Both at the same moment, once the dialog takes keys: one counts, and the other is not called delivered.
            await terminal.say("question")
            asked = await next_ask(desk)
            await terminal.until("Red")
            await terminal.press(DOWN, gone="❯ 1. Red")
            terminal.type(ENTER)
            with suppress(TooLate):
                await desk.answer(asked.id, Choices((Choice(("Red",)),)))
            await until_heard(terminal, heard, 4)
            settled = await until_settled(desk, asked.id)
            if '"Which colour?"="Red"' in heard[-1]:
                assert isinstance(settled.settlement, Answered)
                await until_delivered(desk, asked.id)
            else:
                assert '"Which colour?"="Blue"' in heard[-1]
                assert settled.delivered_at is None

            # A program that exits takes its card along.
            await terminal.say("run four")
            asked = await next_ask(desk)
            await terminal.until(DIALOG)
        assert reason(await until_settled(desk, asked.id)) == "Claude in the terminal exited"
        assert not (yard.work / "four").exists()


async def test_every_answer_reaches_the_terminal(tmp_path: Path) -> None:
    heard: list[str] = []
    rule = Rule("r", "deny", command=f"touch {tmp_path}/work/ruled", message="Nothing is made here.")
    async with Yard(tmp_path, asking(heard), rules=[rule]) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with by_hand(yard.work, yard.environment) as terminal:
            # Rules answer for a terminal, too.
            await terminal.say("run ruled")
            await until_heard(terminal, heard, 1)
            assert heard == ["True: Nothing is made here."]
            [answered] = await desk.asks(state="answered")
            assert isinstance(answered.settlement, Answered)
            assert answered.settlement.source == "rule"

            await terminal.say("run original")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Permission)
            await desk.answer(asked.id, Allow(input={"command": f"touch {yard.work}/changed", "description": "d"}))
            await until_heard(terminal, heard, 2)
            assert [(yard.work / name).exists() for name in ("original", "changed")] == [False, True]

            await terminal.say("run denied")
            asked = await next_ask(desk)
            await desk.answer(asked.id, Deny("Not in this folder."))
            await until_heard(terminal, heard, 3)
            assert heard[2] == "True: Not in this folder."
            assert (await until_delivered(desk, asked.id)).delivered_at is not None

            await terminal.say("question")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Question)
            await desk.answer(asked.id, Choices((Choice(("Blue",)),)))
            await until_heard(terminal, heard, 4)
            assert '"Which colour?"="Blue"' in heard[3]

            await terminal.say("run stopped")
            asked = await next_ask(desk)
            await desk.answer(asked.id, Deny("Stop.", interrupt=True))
            await terminal.until("Interrupted")
            assert not (yard.work / "stopped").exists()

            # A suggestion of Claude's own that a person accepts holds in the terminal from then on.
            await terminal.say("run lasting")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Permission)
            assert asked.body.suggestions
            await desk.answer(asked.id, Allow(suggestions=tuple(range(len(asked.body.suggestions)))))
            await until_heard(terminal, heard, 6)
            await terminal.say("run lasting")
            await until_heard(terminal, heard, 7)
            assert await desk.asks() == []

            # A plan is approved as it was edited here.
            await terminal.press(SHIFT_TAB, gone="? for shortcuts")
            await terminal.press(SHIFT_TAB, gone="accept edits on")
            await terminal.until("plan mode on")
            await terminal.say("plan")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Plan)
            await desk.answer(asked.id, Approve("acceptEdits", "# Another plan"))
            await until_heard(terminal, heard, 8)
            assert "# Another plan" in heard[7]
            await terminal.until("accept edits on")


async def test_without_a_hub_or_with_a_wrong_secret_the_dialog_is_alone(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, AsyncExitStack() as stack:
        served = await stack.enter_async_context(yard.serve())
        await synced(yard, served)
        for token in await served.auth.tokens():
            await served.auth.revoke(token.id, Person("owner"), "test")
        async with by_hand(yard.work, yard.environment) as terminal:
            await terminal.say("run refused")
            await terminal.until(DIALOG)
            await terminal.press(ENTER, gone=DIALOG)
            await until_heard(terminal, heard, 1)
            assert await served.hub.desk.asks(state=None) == []
            await stack.aclose()
            await terminal.say("run alone")
            await terminal.until(DIALOG)
            await terminal.press(ENTER, gone=DIALOG)
            await until_heard(terminal, heard, 2)
            assert (yard.work / "alone").exists()
            assert "error" not in terminal.everything.lower()


async def test_a_hub_that_is_killed_leaves_the_dialog_and_the_next_hub_says_where_it_waits(tmp_path: Path) -> None:
    heard: list[str] = []
    work = tmp_path / "work"
    work.mkdir()
    settle_in(tmp_path)
    async with ScriptedModel({"script": asking(heard)}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with serve(tmp_path, environ) as hub:
            assert OFFER in hub.output
            hub.neighbour.post("/api/projects", {"path": str(work), "name": "work", "options": {}})
            hub.neighbour.post("/api/projects/work/sync", {"remove": False})
            async with by_hand(work, environ) as terminal:
                # A hub that doesn't respond delays nothing. Later it finds that the dialog was answered.
                hub.child.send_signal(signal.SIGSTOP)
                await terminal.say("run slow")
                await terminal.until(DIALOG)
                await terminal.press(ENTER, gone=DIALOG)
                await until_heard(terminal, heard, 1)
                hub.child.send_signal(signal.SIGCONT)
                async with desk_of(tmp_path) as before:
                    missed = await first_of_all(before)
                    assert reason(await until_settled(before, missed)) == "answered in the terminal"
                assert (work / "slow").exists()

                shut(work)
                await terminal.say("hold kept")
                async with desk_of(tmp_path) as before:
                    asked = await next_ask(before)
                await terminal.until(DIALOG)
                hub.child.kill()
                await hub.child.wait()
                async with serve(tmp_path, environ) as second, desk_of(tmp_path) as after:
                    assert OFFER not in second.output
                    settled = await until_settled(after, asked.id)
                    assert reason(settled) == "the connection to the terminal ended; answer it there"
                    assert DIALOG in terminal.screen

                    # The next hub finds what still waits, and where, without another request of Claude's.
                    assert asked.session is not None
                    there = f"Answer in the terminal on {gethostname()}: $ touch {work}/kept && cat {work}/gate"
                    found = await until_dialog(after, asked.session, about="touch")
                    assert (found.dialog, found.phase) == (there, "working")
                    assert "needs you" in (await command(environ, "ps"))[1]
                    assert (await command(environ, "inbox"))[1].startswith(f"✋ {there} (")

                    await terminal.press(ENTER, gone=DIALOG)
                    await until_dialog(after, asked.session, up=False)
                    assert "needs you" not in (await command(environ, "ps"))[1]
                    await let_go(work)
                    await until_heard(terminal, heard, 2)
                    assert (work / "kept").exists()
                    assert (await until_phase(after, asked.session, "idle")).dialog == ""
                    await second.stop()


async def test_a_session_of_the_hub_asks_once_although_the_hook_is_there(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        await asyncio.to_thread(HubClient(yard.state).post, "/api/sync", {"remove": False})
        started = await desk.start("run once", "work")
        trust = await next_ask(desk)
        await desk.answer(trust.id, Trusting("exactly"), trust.digest)
        asked = await next_ask(desk, frozenset({trust.id}))
        assert (asked.asker, asked.session) == ("session", started.session.id)
        await desk.answer(asked.id, Allow())
        await until_turn_ended(desk, started.session.id)
        assert [ask.id for ask in await desk.asks(state=None)] == [trust.id, asked.id]
        await served.hub.pool.stop_all()


async def test_a_session_in_a_terminal_is_listed_followed_and_resumed_here_when_it_has_ended(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with by_hand(yard.work, yard.environment) as terminal:
            await terminal.say("run listed")
            asked = await next_ask(desk)
            assert asked.session is not None
            [listed] = await desk.sessions()
            assert (listed.session.id, listed.open_asks) == (asked.session, 1)
            assert (listed.session.terminal, listed.session.directory) == (gethostname(), str(yard.work))
            await desk.answer(asked.id, Allow())
            await terminal.until("Finished.")
            session = await until_phase(desk, asked.session, "idle")
            assert session.title == "run listed"
            await until_text(desk, session.id, "Finished.")

            # What the hub can't do with it is refused, in words.
            for refused in (desk.say(session.id, "Go on."), desk.interrupt(session.id), desk.stop(session.id)):
                with pytest.raises(Refused, match="in a terminal"):
                    await refused
            with pytest.raises(Refused):
                await desk.resume(session.id)
        session = await until_phase(desk, asked.session, "ended")
        assert session.ended is not None
        assert session.ended.how == "finished"
        contents = [item.read() for item in await desk.items(asked.session)]
        assert [each.text for each in contents if isinstance(each, Said)] == ["run listed"]
        assert [each.tool for each in contents if isinstance(each, ActionStarted)] == ["Bash"]
        assert [each.ok for each in contents if isinstance(each, ActionEnded)] == [True]
        assert [each.text for each in contents if isinstance(each, Text)] == ["Finished."]

        await desk.resume(session.id, "run resumed")
        trust = await next_ask(desk)
        await desk.answer(trust.id, Trusting("without"), trust.digest)
        again = await next_ask(desk, frozenset({trust.id}))
        assert again.session == session.id
        await desk.answer(again.id, Allow())
        await until_turn_ended(desk, session.id)
        assert (yard.work / "resumed").exists()
        # Claude continued the conversation of the terminal.
        assert "run listed" in str(yard.model.requests("script")[-1].messages)
        assert (await desk.session(session.id)).session.terminal == ""
        await served.hub.pool.stop_all()
