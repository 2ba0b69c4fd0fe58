"""Stories of people who follow a Claude that runs in a terminal: what can't be done with it is not offered."""

from pathlib import Path
from socket import gethostname

from stories.hand_run import DIALOG, asking, by_hand, synced, until_heard, until_phase
from stories.outsiders import Yard, next_ask
from surfaces.terminal.pseudo import CTRL_C, CTRL_D, ENTER, Pseudo, handraise

WHERE = f"in a terminal on {gethostname()}"
GUIDE, NEXT, RESUME, INTERRUPT = "Type to guide Claude", "What next?", "Type to resume the session", "to interrupt"


def watching(yard: Yard, *words: str) -> Pseudo:
    return Pseudo(*handraise(*words, "--state", str(yard.state)), environment={}, cwd=str(yard.work))


async def test_attach_answers_requests_and_offers_nothing_else_until_the_session_has_ended(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Yard(tmp_path, asking(heard)) as yard, yard.serve() as served:
        desk = served.hub.desk
        await synced(yard, served, user=True)
        assert not (yard.work / ".claude").exists()
        async with by_hand(yard.work, yard.environment) as terminal:
            await terminal.say("question")
            asked = await next_ask(desk)
            assert asked.session is not None
            # Without a screen it is said where messages go.
            async with watching(yard, "attach", asked.session, "--plain") as person:
                await person.until("Which colour?", "A number, then Enter.")
                person.type("2\r")
                await until_heard(terminal, heard, 1)
                assert '"Which colour?"="Blue"' in heard[0]
                await person.until("messages go there", gone="goes to Claude")
                person.type("Hello\r")
                person.type(CTRL_C)
                await person.until("Ctrl-C again, or Ctrl-D, to leave.")
                assert "goes to Claude" not in person.screen

            await terminal.say("run one")
            asked = await next_ask(desk)
            assert asked.session is not None
            await terminal.until(DIALOG)
            async with watching(yard, "attach", asked.session) as person:
                await person.until("Run this command?", "Esc to postpone", WHERE)
                assert not any(each in person.screen for each in (GUIDE, NEXT, RESUME, INTERRUPT, "$0"))

                # The request is answered here, as any other.
                person.type("a")
                await person.until("Enter: Allow once")
                person.type(ENTER)
                await terminal.until("Finished.", gone=DIALOG)
                await person.until(f"idle · default · {WHERE}")

                # Nothing that is typed goes anywhere, and Ctrl-C interrupts nothing.
                person.type("/allow 1\r")
                person.type("Hello")
                person.type(ENTER)
                person.type(CTRL_C)
                await person.until("Ctrl-C again, or Ctrl-D, to leave.")
                assert "Hello" not in person.screen
                assert not any(each in person.screen for each in (GUIDE, NEXT, RESUME, INTERRUPT))
                await until_heard(terminal, heard, 2)
                terminal.type("/exit")
                terminal.type(ENTER)
                await until_phase(desk, asked.session, "ended")

                # Then it can be resumed here.
                await person.until(RESUME)
                assert WHERE not in person.screen
                person.type(CTRL_D)
                await person.until("Resume it with")
