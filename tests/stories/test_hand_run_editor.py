"""Stories of a Claude that an editor runs, and of `claude -p`: their requests are cards, and the first answer counts.

An editor shows its own dialog beside the hook. `claude -p` has none, so it waits for the hook.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from socket import gethostname

import pytest

from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel
from handraise.demo.pieces import Script, agent, say
from handraise.demo.request import Conversation
from handraise.desk.interface import TooLate
from handraise.model.answers import Allow, Approve, Choice, Choices, Deny
from handraise.model.asks import Permission, Plan, Question
from stories.editor import in_editor
from stories.hand_run import (
    SOON,
    asking,
    first_of_all,
    let_go,
    reason,
    shut,
    synced,
    until_delivered,
    until_dialog,
    withdrawn_after,
)
from stories.outsiders import DEADLINE, Yard, next_ask, until_settled
from stories.serving_house import desk as desk_of
from stories.serving_house import serve, settle_in, surroundings
from stories.test_hand_run_sub_agents import both, worker

READING = 1.0
"""How long a person looks at a dialog, in seconds. The hub looks several times meanwhile. Of one that was answered
before its first look, it hears when the command is over."""


async def test_in_an_editor_whoever_answers_first_counts(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with in_editor(yard.work, yard.environment) as editor:
            # Here first: the editor's dialog closes, and Claude goes on.
            await editor.say("run one")
            asked, dialog = await next_ask(desk), await editor.dialog()
            assert isinstance(asked.body, Permission)
            assert (asked.asker, dialog.tool) == ("session", "Bash")
            assert dialog.is_open
            await desk.answer(asked.id, Allow(), asked.digest)
            await dialog.closed()
            await editor.until_done()
            assert not dialog.decision.done() or dialog.decision.cancelled()
            assert (yard.work / "one").exists()
            assert (await until_delivered(desk, asked.id)).delivered_at is not None

            # There first: the card is withdrawn while the command still runs, and says so.
            shut(yard.work)
            await editor.say("hold two")
            asked, dialog = await next_ask(desk), await editor.dialog()
            await asyncio.sleep(READING)
            dialog.allow()
            settled = await until_settled(desk, asked.id)
            assert reason(settled) == "answered in the editor"
            assert not heard[1:]
            assert withdrawn_after(settled, yard.home) < SOON
            with pytest.raises(TooLate):
                await desk.answer(asked.id, Allow())
            await let_go(yard.work)
            await editor.until_done()

            # A question is answered here, and there.
            await editor.say("question")
            asked, dialog = await next_ask(desk), await editor.dialog()
            assert isinstance(asked.body, Question)
            await desk.answer(asked.id, Choices((Choice(("Blue",)),)))
            await dialog.closed()
            await editor.until_done()
            assert '"Which colour?"="Blue"' in heard[2]
            await editor.say("question")
            asked, dialog = await next_ask(desk), await editor.dialog()
            dialog.allow(answers={"Which colour?": "Red"})
            assert reason(await until_settled(desk, asked.id)) == "answered in the editor"
            await editor.until_done()
            assert '"Which colour?"="Red"' in heard[3]

            # Denied there.
            await editor.say("run three")
            asked, dialog = await next_ask(desk), await editor.dialog()
            dialog.deny("Not this.")
            assert reason(await until_settled(desk, asked.id)) == "answered in the editor"
            await editor.until_done()
            assert heard[4] == "True: Not this."

            # A plan is approved as it was edited here.
            await editor.client.set_permission_mode("plan")
            await editor.say("plan")
            asked, dialog = await next_ask(desk), await editor.dialog()
            assert (isinstance(asked.body, Plan), dialog.tool) == (True, "ExitPlanMode")
            await desk.answer(asked.id, Approve("default", "# Another plan"))
            await dialog.closed()
            await editor.until_done()
            assert "# Another plan" in heard[5]

            # An editor that exits takes its card along.
            await editor.say("run four")
            asked, _ = await next_ask(desk), await editor.dialog()
        assert reason(await until_settled(desk, asked.id)) in ("Claude in the editor exited", "answered in the editor")
        assert not (yard.work / "four").exists()


async def test_an_editor_shows_the_dialogs_of_sub_agents_in_the_background_at_once(tmp_path: Path) -> None:
    heard: dict[str, str] = {}

    def send_both(_: Conversation) -> Script:
        yield [agent(name, f"Make {name}", worker(name, heard), background=True) for name in ("one", "two")]
        while True:
            yield [say("Both are on their way.")]

    async with Yard(tmp_path, send_both) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with in_editor(yard.work, yard.environment) as editor:
            await editor.say("go")
            asked = await both(desk)
            dialogs = {str(each.input["description"]): each for each in [await editor.dialog(), await editor.dialog()]}
            await desk.answer(asked["two"].id, Deny("Not this one."), asked["two"].digest)
            await dialogs["Makes two"].closed()
            assert dialogs["Makes one"].is_open
            assert [ask.id for ask in await desk.asks()] == [asked["one"].id]
            dialogs["Makes one"].allow()
            assert reason(await until_settled(desk, asked["one"].id)) == "answered in the editor"
            await until_delivered(desk, asked["two"].id)
            assert not (yard.work / "two").exists()


async def test_a_hub_that_hangs_or_is_killed_or_away_delays_nothing_in_an_editor(tmp_path: Path) -> None:
    heard: list[str] = []
    work = tmp_path / "work"
    work.mkdir()
    settle_in(tmp_path)
    async with ScriptedModel({"script": asking(heard), "unseen": asking(heard)}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with serve(tmp_path, environ) as hub:
            hub.neighbour.post("/api/projects", {"path": str(work), "name": "work", "options": {}})
            hub.neighbour.post("/api/projects/work/sync", {"remove": False})
            async with in_editor(work, environ) as editor:
                hub.child.send_signal(signal.SIGSTOP)
                await editor.say("run slow")
                (await editor.dialog()).allow()
                await editor.until_done()
                assert (work / "slow").exists()
                hub.child.send_signal(signal.SIGCONT)
                async with desk_of(tmp_path) as before:
                    missed = await first_of_all(before)
                    assert reason(await until_settled(before, missed)) == "answered in the editor"

                await editor.say("run kept")
                dialog = await editor.dialog()
                async with desk_of(tmp_path) as before:
                    asked = await next_ask(before)
                # Without dialogs, Claude waits for the hook only as long as the hub is there.
                async with without_dialogs(work, surroundings(tmp_path, model.url("unseen")), "run unseen") as claude:
                    async with desk_of(tmp_path) as before:
                        await next_ask(before, frozenset({asked.id}))
                    hub.child.kill()
                    await hub.child.wait()
                    assert await output(claude) == (b"Finished.\n", b"")
                async with serve(tmp_path, environ) as second, desk_of(tmp_path) as after:
                    settled = await until_settled(after, asked.id)
                    assert reason(settled) == "the connection to the editor ended; answer it there"
                    assert dialog.is_open
                    assert asked.session is not None
                    found = await until_dialog(after, asked.session, about="touch")
                    assert found.dialog == f"Answer in the editor on {gethostname()}: $ touch {work}/kept"
                    dialog.allow()
                    await editor.until_done()
                    await until_dialog(after, asked.session, up=False)
                    await second.stop()
                await editor.say("run alone")
                (await editor.dialog()).allow()
                await editor.until_done()
                assert [(work / name).exists() for name in ("kept", "unseen", "alone")] == [True, False, True]


@asynccontextmanager
async def without_dialogs(
    work: Path, environment: Mapping[str, str], prompt: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`claude -p`, as a person types it."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        locate(), "-p", prompt, cwd=work, env=environment, stdin=nothing, stdout=pipe, stderr=pipe
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def output(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    async with asyncio.timeout(DEADLINE):
        return await process.communicate()


async def test_claude_without_dialogs_waits_for_an_answer_here_but_not_for_ever(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard), unseen=2.0) as yard:
        async with yard.serve() as served:
            desk = served.hub.desk
            await synced(yard, served)
            async with without_dialogs(yard.work, yard.environment, "run one") as claude:
                asked = await next_ask(desk)
                await desk.answer(asked.id, Allow(), asked.digest)
                assert await output(claude) == (b"Finished.\n", b"")
                assert (yard.work / "one").exists()

            # Nobody answers: Claude denies the call itself, as without a hub.
            async with without_dialogs(yard.work, yard.environment, "run two") as claude:
                asked = await next_ask(desk)
                assert await output(claude) == (b"Finished.\n", b"")
                assert reason(await until_settled(desk, asked.id)) == (
                    "not answered in time; Claude continued without an answer"
                )

        # No hub: it doesn't wait.
        async with without_dialogs(yard.work, yard.environment, "run three") as claude:
            assert await output(claude) == (b"Finished.\n", b"")
        assert [each.partition(":")[0] for each in heard] == ["False", "True", "True"]
        assert [(yard.work / name).exists() for name in ("two", "three")] == [False, False]
