"""Completion, in the shells themselves."""

import shutil
import sys
from pathlib import Path

import pytest

from surfaces.terminal.asked import NPM
from surfaces.terminal.pseudo import CTRL_U, ENTER, TAB, Pseudo
from surfaces.terminal.table import Table, table

SHELLS = {
    "bash": (
        ("bash", "--norc", "--noprofile", "-i"),
        "bind 'set show-all-if-ambiguous on'; eval \"$(handraise completion bash)\"",
    ),
    "zsh": (("zsh", "-f", "-i"), 'eval "$(handraise completion zsh)"'),
    "fish": (("fish", "--no-config", "-i"), "handraise completion fish | source"),
}
HOSTILE = "Fix, it: \x1b]0;pwned\x07\x1b[2J\nnow"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def opened(laid: Table, shell: str) -> Pseudo:
    command, _ = SHELLS[shell]
    found = shutil.which(command[0])
    assert found is not None
    here = str(Path(sys.executable).parent)
    environment = {
        "HANDRAISE_STATE": str(laid.state),
        "HOME": str(laid.tmp),
        "PATH": f"{here}:/usr/bin:/bin",
        "PS1": "ready> ",
    }
    return Pseudo(found, *command[1:], environment=environment, cwd=str(laid.tmp))


async def load(terminal: Pseudo, shell: str) -> None:
    terminal.type(SHELLS[shell][1], ENTER, "echo loa''ded", ENTER)
    await terminal.until("loaded")


async def test_commands_sessions_and_asks_are_completed_no_title_does_harm_and_without_a_hub_nothing_is_known(
    tmp_path: Path, shell: str
) -> None:
    terminal = opened(Table(tmp_path), shell)
    async with terminal:
        async with table(tmp_path) as laid:
            await laid.session("s_0123456789abcdef")
            ask = await laid.ask(NPM)
            await load(terminal, shell)
            terminal.type("handraise att", TAB)
            await terminal.until("handraise attach")
            terminal.type("s_0", TAB)
            await terminal.until("attach s_0123456789abcdef")
            terminal.type("--pat", TAB)
            await terminal.until("s_0123456789abcdef --patience")
            terminal.type(CTRL_U, "handraise answer a", TAB)
            await terminal.until(f"handraise answer {ask.id}")
            assert "not found" not in terminal.everything

            # A title does no harm to a shell.
            for number in range(2):
                await laid.session(f"s_{number}_x", title=f"{number} {HOSTILE}")
            terminal.type(CTRL_U, "handraise stop s_", TAB)
            await terminal.until("s_0_x", "s_1_x")
            if shell != "bash":
                await terminal.until("working: 0 Fix, it: ⟨U+001B⟩]0;pwned")
            assert "pwned" not in " ".join(terminal.emulator.titles)
            assert b"\x1b]0;pwned" not in terminal.raw

            # One that a person runs in a terminal can be followed, but not stopped.
            await laid.session("s_t_terminal", terminal="laptop")
            terminal.type(CTRL_U, "handraise attach s_t", TAB)
            await terminal.until("attach s_t_terminal")
            terminal.type(CTRL_U, "echo cleared", ENTER)
            await terminal.until("cleared")
            terminal.type("handraise stop s_t", TAB, "yped", ENTER)
            await terminal.until("handraise stop s_typed")

        # What no hub can tell is not completed.
        terminal.type(CTRL_U, "handraise stop s", TAB, "_typed", ENTER)
        await terminal.until("stop s_typed", "No hub is running.")
