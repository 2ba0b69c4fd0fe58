"""Two machines are upgraded one after the other, as docs/machines.md says, while a Claude on each is in a turn."""

import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import handraise
from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.desk.remote import RemoteDesk
from handraise.model.answers import Allow, Choice, Choices
from handraise.model.asks import Ask
from handraise.model.items import SessionChanged, TurnEnded
from handraise.model.projects import Options
from handraise.model.sessions import Session
from postgres.cluster import Cluster
from postgres.proxy import Proxy
from stories.house import next_ask, seen
from stories.sites import ServedSite, until

SQLITE = Choices((Choice(("SQLite",)),))
QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}
NEWER = "99.0.0"


def work(conversation: Conversation) -> Script:
    conversation = yield [use("AskUserQuestion", questions=[QUESTION])]
    answer = conversation.result().text
    conversation = yield [use("Bash", command=f"touch {conversation.directory}/made", description="Touch a file")]
    yield [say(f"Heard: {answer}")]


def newer_version(folder: Path) -> Path:
    """The same code with another number, and a schema that is ahead by one migration."""
    source = Path(handraise.__file__).parent
    package = folder / "handraise"
    shutil.copytree(source, package)
    marked = (package / "__init__.py").read_text().replace(handraise.__version__, NEWER)
    (package / "__init__.py").write_text(marked)
    migrations = package / "store" / "postgres" / "migrations"
    (migrations / "9999_newer.sql").write_text("ALTER TABLE handraise.sessions ADD COLUMN mood text;\n")
    return folder


async def test_machines_are_upgraded_one_after_the_other_with_sessions_alive(
    tmp_path: Path, cluster: Cluster, empty_database: str
) -> None:
    newer = newer_version(tmp_path / "newer")
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel({"script": work}, stretch=0))
        proxy = await stack.enter_async_context(Proxy(cluster.port))
        sites = []
        for name in ("alder", "birch"):
            site = ServedSite(name, tmp_path / name, proxy, empty_database, model.url("script", EACH_SESSION))
            await stack.enter_async_context(site.kept())
            sites.append(site)
            await site.up()
        alder, birch = sites
        sessions = {site.name: await started(site) for site in sites}
        claudes = {site.name: launched(site, sessions[site.name]) for site in sites}
        questions: dict[str, Ask] = {}
        for site in sites:
            async with site.desk() as desk:
                questions[site.name] = await next_ask(desk, sessions[site.name])

        # One after the other: stopped, upgraded, started. Meanwhile its Claude waits, and people answer at the other.
        for site, other in ((alder, birch), (birch, alder)):
            async with other.desk() as desk:
                await site.stop()
                assert (await versions(desk))[site.name][1]
                await desk.answer(questions[site.name].id, SQLITE)
                site.code = newer
                site.come_back()
                await site.up()
                permission = await next_ask(desk, sessions[site.name], {questions[site.name].id})
                assert (await versions(desk))[site.name] == (NEWER, False)
                if site is alder:  # the other one still runs the old version, on the new schema
                    assert (await versions(desk))["birch"] == (handraise.__version__, False)
                await desk.answer(permission.id, Allow())
                await seen(desk, lambda each: isinstance(each, TurnEnded), sessions[site.name].id)

        async with birch.desk() as desk:
            for site in sites:
                assert (site.work / "made").exists()
                session = (await desk.session(sessions[site.name].id)).session
                assert (session.phase, session.run) == ("idle", 1)
                assert launched(site, session) == claudes[site.name]  # the Claude that was there before
                assert [ask.state for ask in await desk.asks(state=None, session=session.id)] == ["answered"] * 2
                await stopped(desk, session)
        assert model.errors == []
        await alder.stop()
        alder.code = None
        alder.come_back()
        await until(lambda: alder.has_logged("was written by a newer Handraise"))
        alder.leave()


async def started(site: ServedSite) -> Session:
    async with site.desk() as desk:
        await desk.add_project(str(site.work), f"of {site.name}", Options())
        return (await desk.start("work", f"of {site.name}")).session


def launched(site: ServedSite, session: Session) -> bytes:
    """What its last process wrote about itself: its pid, and when it was started."""
    return max((site.state / "sessions" / session.id).glob("*/launch.json")).read_bytes()


async def versions(desk: RemoteDesk) -> dict[str, tuple[str, bool]]:
    """What `handraise machines` shows: the version of each, and whether it is away."""
    machines = [each.machine for each in await desk.machines()]
    return {each.name: (each.version, each.away_since is not None) for each in machines}


async def stopped(desk: RemoteDesk, session: Session) -> None:
    after = await desk.newest()
    await desk.stop(session.id)
    await seen(desk, lambda each: isinstance(each, SessionChanged) and each.phase == "ended", session.id, after)
