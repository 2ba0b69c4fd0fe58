"""Records the database of a hub of an older version, in which a session waits for a person, as SQL.

cd tests && ../.venv/bin/python -m upgrades.record 10    writes tests/upgrades/schema-10.sql; needs git's history
"""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from handraise.claude.process import Identity
from handraise.demo.model import ScriptedModel
from stories.older import OLDER, install_older
from stories.serving_house import serve, settle_in, surroundings
from stories.test_upgrade import older_command, touch, waiting_session

HERE = Path(__file__).parent
PLACE = Path("/tmp/handraise-older")
"""Part of what is recorded."""


async def main(version: int) -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    (PLACE / "work").mkdir(parents=True)
    installed = install_older(OLDER[version], PLACE / "older")
    settle_in(PLACE)
    async with ScriptedModel({"touch": touch}) as model:
        environ = surroundings(PLACE, model.url("touch"))
        environ["PYTHONPATH"] = os.pathsep.join([str(installed), *sys.path])
        async with serve(PLACE, environ) as old:
            session, _ = await waiting_session(environ, PLACE / "work")
            await older_command(environ, PLACE / "work", "token", "create", "ana", "--role", "approver")
            await old.stop()
        record = json.loads((PLACE / "state" / "sessions" / session / "1" / "launch.json").read_bytes())
        Identity(record["pid"], record["started"], record["boot"]).signal(signal.SIGKILL)
    with closing(sqlite3.connect(PLACE / "state" / "hub.db")) as database:
        [number] = database.execute("PRAGMA user_version").fetchone()
        assert number == version
        lines = [*database.iterdump(), f"PRAGMA user_version = {number};"]
    (HERE / f"schema-{version}.sql").write_text("\n".join(lines) + "\n")
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
