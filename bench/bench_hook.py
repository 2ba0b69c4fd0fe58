"""The cost of checking every call: the real CLI in a hub, with and without checks, in turns.

Part of that is Claude's own: the reference is a bare loop that answers each check immediately, in the same run.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec

import figures
from handraise.claude.locate import locate
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.hub.hub import HubConfig, hub
from handraise.model.rules import Rule
from handraise.session import machine

CALLS = 40
ROUNDS = 5
MOST = 0.002
RULES = [Rule(f"r_{number}", "deny", path=f"/nowhere/{number}/**") for number in range(20)]
"""None of them concerns what is read; all of them are tried."""


class Calls:
    """A model that reads one file again and again, and records when it gets each result."""

    def __init__(self) -> None:
        self.heard: list[float] = []
        self.done = asyncio.Event()

    def script(self, conversation: Conversation) -> Script:
        for _ in range(CALLS):
            conversation = yield [use("Read", file_path=f"{conversation.directory}/a.txt")]
            self.heard.append(time.perf_counter())
        self.done.set()
        yield [say("Done.")]

    @property
    def seconds(self) -> float:
        """From one result to the next, at the median: everything Claude does for a call, and no more."""
        return statistics.median(after - before for before, after in pairwise(self.heard))


@contextmanager
def unchecked() -> Iterator[None]:
    """As if we had never registered the hook."""
    checked = machine._HOOKS  # noqa: SLF001 (there is no other way, and nobody else should have one)
    machine._HOOKS = {}  # noqa: SLF001
    try:
        yield
    finally:
        machine._HOOKS = checked  # noqa: SLF001


@asynccontextmanager
async def place() -> AsyncIterator[tuple[Path, Calls, dict[str, str]]]:
    """A working directory, its calls, and Claude's environment."""
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder) / "work", Path(folder) / "home"
        work.mkdir()
        home.mkdir()
        (work / "a.txt").write_text("a\n")
        calls = Calls()
        async with ScriptedModel({"script": calls.script}) as model:
            yield work, calls, environment(model.url("script"), str(home))


async def seconds_a_call() -> float:
    """In a hub."""
    async with (
        place() as (work, calls, around),
        hub(HubConfig(work.parent / "state", locate(), around, rules=RULES)) as opened,
    ):
        await opened.desk.start("Read.", str(work))
        await calls.done.wait()
        await opened.pool.stop_all()
    return calls.seconds


async def bare_seconds_a_call(*, checked: bool) -> float:
    """Without a hub: a loop that answers each check immediately."""
    words = ("-p", "--verbose", "--input-format=stream-json", "--output-format=stream-json")
    async with place() as (work, calls, around):
        claude = await asyncio.create_subprocess_exec(
            locate(),
            *words,
            "--permission-prompt-tool=stdio",
            cwd=work,
            env=around,
            stdin=PIPE,
            stdout=PIPE,
            limit=2**24,
        )
        assert claude.stdin
        assert claude.stdout
        hooks = machine._HOOKS if checked else {}  # noqa: SLF001
        first = {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize", "hooks": hooks}}
        claude.stdin.write(msgspec.json.encode(first) + b"\n")
        text = {"type": "user", "message": {"role": "user", "content": "Read."}}
        claude.stdin.write(msgspec.json.encode(text) + b"\n")
        async for line in claude.stdout:
            match msgspec.json.decode(line):
                case {"type": "control_request", "request_id": str() as asked}:
                    response = {"subtype": "success", "request_id": asked, "response": {}}
                    body = {"type": "control_response", "response": response}
                    claude.stdin.write(msgspec.json.encode(body) + b"\n")
                case {"type": "result"}:
                    break
        claude.stdin.close()
        await claude.wait()
    return calls.seconds


async def main() -> None:
    pairs, bare = [], []
    for _ in range(ROUNDS):
        with unchecked():
            without = await seconds_a_call()
        pairs.append((await seconds_a_call(), without))
        bare.append(await bare_seconds_a_call(checked=True) - await bare_seconds_a_call(checked=False))
    more = statistics.median(checked - without for checked, without in pairs)
    ratio = statistics.median(checked / without for checked, without in pairs)
    own = statistics.median(bare)
    figures.report("a checked call, of one that is not", ratio)
    verdict = "holds" if more < MOST else "MISSED"
    sys.stdout.write(
        f"hook: a call takes {ratio:.2f} of one that is not checked, {more * 1000:+.2f} ms; target: under "
        f"{MOST * 1000:g} ms more: {verdict} (a bare loop that answers at once: {own * 1000:+.2f} ms)\n"
    )


if __name__ == "__main__":
    asyncio.run(main())
