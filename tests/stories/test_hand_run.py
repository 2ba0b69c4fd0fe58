"""Stories of a Claude that a person runs in a terminal: it asks there and here, and the first answer counts."""

import asyncio
from pathlib import Path

from handraise.cli.client import HubClient
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation
from handraise.model.answers import Allow
from handraise.model.asks import Permission, Withdrawn
from handraise.model.projects import Options
from handraise.serving.serve import RunningHub
from stories.hand_run import DIALOG, by_hand
from stories.outsiders import Yard, next_ask, until_settled
from surfaces.terminal.pseudo import ENTER

QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    "multiSelect": False,
}


def asking(heard: list[str]) -> Scripted:
    """A model that runs what each message names, and records what Claude sent it about each."""

    def script(told: Conversation) -> Script:
        while True:
            word = (told.text.splitlines() or [""])[-1].strip()
            name, _, path = word.partition(" ")
            match name:
                case "run":
                    piece = use("Bash", command=f"touch {told.directory}/{path} && sleep 3", description="Makes a file")
                case "question":
                    piece = use("AskUserQuestion", questions=[QUESTION])
                case _:
                    told = yield [say("Nothing to do.")]
                    continue
            told = yield [piece]
            heard.append(f"{told.result().is_error}: {told.result().text}")
            told = yield [say("Finished.")]

    return script


async def synced(yard: Yard, served: RunningHub, *words: str) -> None:
    await served.hub.desk.add_project(str(yard.work), "work", Options())
    await asyncio.to_thread(HubClient(yard.state).post, "/api/projects/work/sync", {"remove": False})


async def test_whoever_answers_first_counts(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served)
        async with by_hand(tmp_path, yard.work, yard.environment) as terminal:
            # Here first: the dialog closes, and Claude goes on.
            await terminal.say("run one")
            asked = await next_ask(desk)
            assert isinstance(asked.body, Permission)
            assert (asked.asker, asked.session, asked.project) == ("agent", None, (await desk.projects())[0].id)
            await terminal.until(DIALOG)
            await desk.answer(asked.id, Allow(), asked.digest)
            await terminal.until("Finished.", gone=DIALOG)
            assert (yard.work / "one").exists()

            # There first, while the command still runs: the card is withdrawn at once and says so.
            await terminal.say("run two")
            asked = await next_ask(desk)
            await terminal.until(DIALOG)
            await terminal.press(ENTER, gone=DIALOG)
            async with asyncio.timeout(2):
                settled = await until_settled(desk, asked.id)
            assert isinstance(settled.settlement, Withdrawn)
            assert settled.settlement.reason == "answered in the terminal"
