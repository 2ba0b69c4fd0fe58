"""Two hubs on one database: each runs its own machine's sessions, and people reach all of them from either."""

from pathlib import Path

from handraise.model.answers import Choice, Choices
from hub.fleet import fleet_of, next_ask, until_phase

SQLITE = Choices((Choice(("SQLite",)),))


async def test_an_answer_counts_wherever_it_was_given(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, "laptop", "server") as (laptop, server):
        started = await laptop.hub.desk.start("ask me", str(laptop.work))
        ask = await next_ask(server.hub, started.session.id)
        assert ask.machine == laptop.machine
        assert started.session.machine == laptop.machine

        await server.hub.desk.answer(ask.id, SQLITE)

        await until_phase(server.hub, started.session.id, "idle")
        (line,) = laptop.received("control_response")
        assert line["response"]["response"]["updatedInput"]["answers"] == {"Which database?": "SQLite"}
        assert not server.received("user")
