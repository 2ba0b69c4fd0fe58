"""What every store promises about sessions and projects that are removed."""

from msgspec.structs import replace

from handraise.model.audit import Entry
from handraise.model.items import SessionRemoved, Text
from handraise.model.sessions import Checkpoint
from handraise.store.changes import (
    Advance,
    OpenAsk,
    PublishItems,
    QueueSay,
    Record,
    RemoveProject,
    RemoveSession,
    SaveProject,
    SaveSession,
    SettleAsk,
    TakeSay,
)
from handraise.store.interface import Store
from store.examples import ANA, NOON, a_project, a_say, a_session, an_ask, answered

LONG = "long " * 2000


async def test_only_a_session_that_has_ended_and_waits_for_nobody_is_removed_and_nothing_else_with_it(
    store: Store,
) -> None:
    ended = replace(a_session("s_1"), phase="ended")
    other = replace(a_session("s_2"), phase="ended")
    await store.apply(
        [
            SaveSession(a_session("s_1")),
            SaveSession(other),
            Advance(Checkpoint("s_1", 1, 10, b"memory")),
            PublishItems("s_1", NOON, Text(LONG, "m_1")),
            PublishItems("s_2", NOON, Text(LONG, "m_2")),
            QueueSay(a_say("u_1", session="s_1")),
            TakeSay("u_1", NOON),
            OpenAsk(an_ask("a_1", session="s_1")),
            Record(Entry(NOON, "session started", ANA, "web", session="s_1")),
        ]
    )
    assert (await store.apply([RemoveSession("s_1", NOON, ANA)])).took == (False,)
    await store.apply([SaveSession(ended)])
    assert (await store.apply([RemoveSession("s_1", NOON, ANA)])).took == (False,)
    await store.apply([SettleAsk("a_1", answered())])

    removed = await store.apply(
        [RemoveSession("s_1", NOON, ANA), RemoveSession("s_1", NOON, ANA), RemoveSession("s_none", NOON, ANA)]
    )

    assert removed.took == (True, False, False)
    assert [each.id for each in await store.sessions()] == ["s_2"]
    assert await store.session("s_1") is None
    # All that is left of it is the news, for everyone who follows the feed.
    [news] = await store.items(session="s_1")
    assert news.read() == SessionRemoved(ANA)
    assert list(removed.items) == [news]
    assert await store.asks(session="s_1", state=None) == []
    assert await store.ask("a_1") is None
    assert await store.says("s_1") == []
    assert await store.checkpoint("s_1") is None
    assert "s_1" not in await store.last_lines()
    [item] = await store.items(session="s_2")
    content = item.read()
    assert isinstance(content, Text)
    assert content.text == LONG
    assert any(each.session == "s_1" for each in await store.audit(after=0))
    # Its place in the feed isn't given to another item.
    _, newest = await store.cursors()
    [another] = (await store.apply([PublishItems("s_2", NOON, Text("more", "m_3"))])).items
    assert another.cursor == newest + 1


async def test_a_project_is_removed_unless_one_of_its_sessions_runs(store: Store) -> None:
    project = a_project()
    living = replace(a_session("s_1"), project=project.id)
    await store.apply([SaveProject(project), SaveSession(living)])
    assert (await store.apply([RemoveProject(project.id)])).took == (False,)
    await store.apply([SaveSession(replace(living, phase="ended"))])

    assert (await store.apply([RemoveProject(project.id), RemoveProject(project.id)])).took == (True, False)

    assert await store.projects() == []
    # Its directory can be a project again.
    assert (await store.apply([SaveProject(replace(project, id="p_9"))])).took == (True,)
