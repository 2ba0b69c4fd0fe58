"""A story of a request that never reaches the hub: Claude says that it waits, and is asked what for."""

import sys
from pathlib import Path

from handraise.claude.locate import locate
from handraise.hub.hub import HubConfig, hub
from stories.house import House
from stories.test_reattaching import NEVER, begin, differences, finish, work

DAMAGE = """
import sys
intact = True
for line in sys.stdin:
    if intact and '"can_use_tool"' in line:
        intact, line = False, line[:40] + chr(10)
    sys.stdout.write(line)
    sys.stdout.flush()
"""


async def test_a_request_whose_line_was_damaged_is_asked_because_claude_says_that_it_waits(tmp_path: Path) -> None:
    async with House(tmp_path, work, rules=[NEVER]) as home:
        (tmp_path / "damage.py").write_text(DAMAGE)
        program = tmp_path / "claude"
        program.write_text(f'#!/bin/sh\n"{locate()}" "$@" | "{sys.executable}" "{tmp_path}/damage.py"\n')
        program.chmod(0o755)
        async with hub(HubConfig(tmp_path / "state", program, home.environment, rules=[NEVER])) as opened:
            ask = await begin(opened, home)
            assert differences(await finish(opened, ask)) == [
                "Claude says it's waiting for an answer, but no request is open here.",
                "Claude was waiting for a request that the hub didn't know about. It is open now.",
            ]
