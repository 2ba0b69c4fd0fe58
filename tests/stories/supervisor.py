"""A supervisor that can be killed: starts Claude, sends a message, may answer, reports, and waits to be killed."""

import asyncio
import os
import sys
import uuid
from pathlib import Path

import msgspec

from handraise.claude import claude
from handraise.claude.command import Launch
from handraise.claude.locate import locate
from handraise.claude.watch import watch
from handraise.wire.connection import Connection
from handraise.wire.frames import CanUseTool, ControlRequest


async def main(tmp: Path, folder: Path, answer: str | None) -> None:
    wire = Connection()
    launch = Launch(directory=str(tmp / "work"), session_id=str(uuid.uuid4()))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    async with watch() as bells:
        running = await claude.start(locate(), launch, folder, tmp / "locks", bells, environment)
        async with running:
            await running.write(wire.send_request("ours-1", "initialize", hooks=None))
            await running.write(wire.send_say("Go on.", str(uuid.uuid4())))
            async for chunk in running.follow():
                for frame in [each.frame for each in wire.receive(chunk)]:
                    if isinstance(frame, ControlRequest) and isinstance(frame.request, CanUseTool):
                        if answer is not None:
                            asked = msgspec.json.decode(frame.request.input)
                            text = {each["question"]: answer for each in asked["questions"]}
                            await running.write(wire.send_allow(frame.request_id, {**asked, "answers": text}))
                        os.write(1, b"done\n")
                        await asyncio.Event().wait()


if __name__ == "__main__":
    tmp, folder, *words = sys.argv[1:]
    asyncio.run(main(Path(tmp), Path(folder), words[1] if words[0] == "answer" else None))
