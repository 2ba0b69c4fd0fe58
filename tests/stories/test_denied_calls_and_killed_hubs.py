"""A story of a denied call, who may allow it, and hubs that are killed with `kill -9`."""

import signal
from pathlib import Path

import pytest

from handraise.demo.model import ScriptedModel
from handraise.desk.interface import NotLetIn, Refused
from handraise.desk.remote import RemoteDesk
from handraise.model.items import ActionDenied, AskOpened, DenialChanged, TurnEnded
from handraise.model.sessions import Session
from stories.house import seen
from stories.serving_house import HubChild, command, desk, serve, settle_in, stop_all, surroundings
from stories.test_denied_calls import retries
from stories.timeline import only, times


async def test_a_call_that_was_allowed_runs_once_however_often_the_hub_is_killed(tmp_path: Path) -> None:
    settle_in(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    async with ScriptedModel({"script": retries("a", "a", "a")}) as model:
        environ = surroundings(tmp_path, model.url("script"))
        async with serve(tmp_path, environ) as first, desk(tmp_path) as owner:
            session = (await owner.start("Upload it.", str(work), mode="auto")).session
            (denied,) = only(ActionDenied, await seen(owner, times(1, TurnEnded), session.id))
            await refused_to_others(first, session, denied.action)
            await kill(first)
        async with serve(tmp_path, environ) as second, desk(tmp_path) as owner:
            assert await command(environ, "allow", session.id, denied.action) == (0, "")
            await kill(second)
        async with serve(tmp_path, environ), desk(tmp_path) as owner:
            await owner.allow_denied(session.id, denied.action)
            contents = await seen(owner, times(2, TurnEnded), session.id)
            assert (work / "a").exists()
            assert [each.state for each in only(DenialChanged, contents)] == ["allowed", "retried"]
            (work / "a").unlink()
            await owner.say(session.id, "Again.")
            contents = await seen(owner, times(3, TurnEnded), session.id)
            assert not (work / "a").exists()
            assert (len(only(ActionDenied, contents)), len(only(AskOpened, contents))) == (2, 1)
        await stop_all(tmp_path, environ)
        assert model.errors == []


async def refused_to_others(hub: HubChild, session: Session, action: str) -> None:
    async with RemoteDesk(hub.base, hub.token("viewer", "viewer")) as viewer:
        with pytest.raises(NotLetIn, match="Requires the approver role"):
            await viewer.allow_denied(session.id, action)
    async with RemoteDesk(hub.base, hub.token("approver", "approver")) as approver:
        with pytest.raises(Refused, match="can't be allowed any more"):
            await approver.allow_denied(session.id, "toolu_unknown")


async def kill(hub: HubChild) -> None:
    hub.child.send_signal(signal.SIGKILL)
    await hub.child.wait()
