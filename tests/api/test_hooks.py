"""The route of hooks: held until somebody decides, and silent about everything it can't ask."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from api.served import PLAIN, TESTER, Served, served
from handraise.model.answers import Allow, Deny
from handraise.model.asks import Ask, Permission, Withdrawn
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.model.tokens import Role
from handraise.store.changes import OpenAsk

CALL: dict[str, Any] = {
    "session_id": "5f0c",
    "cwd": "/work",
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
    "permission_mode": "default",
    "prompt_id": "p",
}

SUGGESTION = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make"}],
    "behavior": "allow",
    "destination": "localSettings",
}


async def opened(hub: Served, count: int = 1) -> list[Ask]:
    async with asyncio.timeout(30), hub.up.hub.desk.follow(0) as follower:
        async for _ in follower:
            asks = await hub.up.hub.desk.asks()
            if len(asks) >= count:
                return asks
    raise AssertionError("the feed ended")


async def settled(hub: Served, ask: str) -> Ask:
    async with asyncio.timeout(30), hub.up.hub.desk.follow(0) as follower:
        async for _ in follower:
            found = await hub.up.hub.desk.ask(ask)
            if found.settlement is not None:
                return found
    raise AssertionError("the feed ended")


def post(client: httpx2.AsyncClient, **more: Any) -> asyncio.Task[httpx2.Response]:
    return asyncio.create_task(client.post("/hooks/claude", json={**CALL, **more}))


async def test_a_request_is_held_until_somebody_answers(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("agent") as hook:
        held = post(hook)
        [ask] = await opened(hub)
        assert isinstance(ask.body, Permission)
        assert (ask.asker, ask.session, ask.expires_at) == ("agent", None, None)
        await hub.up.hub.desk.answer(ask.id, Deny("No."), ask.digest)
        response = await held
        assert response.json()["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "No."}
        # Nothing shows that it reached Claude, so it isn't called delivered.
        assert (await hub.up.hub.desk.ask(ask.id)).delivered_at is None


async def test_a_hook_whose_token_is_revoked_hears_no_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("a hook", "agent", TESTER, "test")
        bearer = {"authorization": f"Bearer {made.secret}"}
        async with httpx2.AsyncClient(base_url=hub.up.base, headers=bearer, verify=PLAIN, timeout=30) as hook:
            held = post(hook)
            [ask] = await opened(hub)
            await hub.up.auth.revoke(made.token.id, TESTER, "test")
            assert "hookSpecificOutput" not in (await held).json()
        assert isinstance((await settled(hub, ask.id)).settlement, Withdrawn)


async def test_only_an_agent_is_let_in(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        roles: tuple[tuple[Role | None, int], ...] = ((None, 401), ("viewer", 403), ("approver", 403), ("admin", 403))
        for role, status in roles:
            async with hub.client(role) as client:
                assert (await post(client)).status_code == status
        assert await hub.up.hub.desk.asks(state=None) == []


@pytest.mark.parametrize(
    "odd",
    [
        {"hook_event_name": "PreToolUse"},
        {"tool_name": ""},
        {"tool_name": "AskUserQuestion", "tool_input": {}},
        {"tool_name": "ExitPlanMode", "tool_input": {}},
        {"tool_input": "rm"},
        {"cwd": "somewhere"},
        {"cwd": "/a\0b"},
        {"session_id": 5},
        {"permission_suggestions": "all"},
    ],
)
async def test_what_cannot_be_asked_is_left_to_the_terminal(tmp_path: Path, odd: dict[str, Any]) -> None:
    async with served(tmp_path) as hub, hub.client("agent") as hook:
        response = await post(hook, **odd)
        assert (response.status_code, response.json()) == (200, {})
        assert await hub.up.hub.desk.asks(state=None) == []


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"permission_suggestions": [SUGGESTION]}, False),
        ({"permission_suggestions": []}, True),
        ({}, True),
        ({"permission_suggestions": [SUGGESTION], "permission_mode": "auto"}, True),
        ({"permission_suggestions": [SUGGESTION], "permission_mode": "new"}, True),
    ],
)
async def test_a_rule_allows_only_what_claude_code_leaves_to_rules(
    tmp_path: Path, fields: dict[str, Any], asked: bool
) -> None:
    async with served(tmp_path, rules=[Rule("r", "allow", command="make")]) as hub, hub.client("agent") as hook:
        held = post(hook, **fields)
        if asked:
            [ask] = await opened(hub)
            await hub.up.hub.desk.answer(ask.id, Deny("No."))
        decision = (await held).json()["hookSpecificOutput"]["decision"]
        assert decision["behavior"] == ("deny" if asked else "allow")


async def test_sessions_that_the_hub_runs_are_not_asked_about_twice(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("agent") as hook:
        running = await hub.session(phase="working")
        assert (await post(hook, session_id=running.claude_id)).json() == {}
        assert await hub.up.hub.desk.asks(state=None) == []
        # One that has ended may be resumed by hand.
        ended = await hub.session()
        held = post(hook, session_id=ended.claude_id)
        [ask] = await opened(hub)
        await hub.up.hub.desk.answer(ask.id, Allow())
        assert (await held).json()["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


async def test_a_closed_connection_withdraws_the_card(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        async with hub.client("agent") as hook:
            held = post(hook)
            [ask] = await opened(hub)
            held.cancel()
            await asyncio.gather(held, return_exceptions=True)
        assert isinstance((await settled(hub, ask.id)).settlement, Withdrawn)


async def test_two_hooks_of_one_claude_are_one_ask_and_both_get_its_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("agent") as first, hub.client("agent") as second:
        one = post(first)
        [ask] = await opened(hub)
        two = post(second)
        three = post(first)
        # The same hook again is another call: allowing one must not allow the other.
        both = await opened(hub, 2)
        for each in both:
            await hub.up.hub.desk.answer(each.id, Allow() if each.id == ask.id else Deny("No."))
        decisions = [(await each).json()["hookSpecificOutput"]["decision"]["behavior"] for each in (one, two, three)]
        assert decisions == ["allow", "allow", "deny"]
        assert len(await hub.up.hub.desk.asks(state=None)) == 2


async def test_a_hub_that_stops_leaves_the_decision_to_the_terminal_and_the_next_one_withdraws(tmp_path: Path) -> None:
    async with AsyncExitStack() as clients:
        async with served(tmp_path) as hub:
            headers = {"authorization": f"Bearer {await hub.token('agent')}"}
            client = httpx2.AsyncClient(base_url=hub.up.base, headers=headers, verify=PLAIN)
            held = post(await clients.enter_async_context(client))
            [ask] = await opened(hub)
        assert (await held).json() == {}
    async with served(tmp_path) as hub:
        found = await hub.up.hub.desk.ask(ask.id)
        assert isinstance(found.settlement, Withdrawn)
        # As if this hub was killed with it.
        left_open = replace(ask, id="a_left", origin=replace(ask.origin, reference="terminal/5f0c/left"))
        await hub.up.hub.store.apply([OpenAsk(left_open)])
    async with served(tmp_path) as hub:
        left = await hub.up.hub.desk.ask("a_left")
        assert isinstance(left.settlement, Withdrawn)
        assert "terminal" in left.settlement.reason


async def test_a_projects_secret_is_for_this_project_only(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    async with served(tmp_path) as hub:
        project = await hub.up.hub.desk.add_project(str(shop), "shop", Options())
        made = await hub.up.auth.make("hook", "agent", TESTER, "test", project=project.id)
        headers = {"authorization": f"Bearer {made.secret}"}
        async with httpx2.AsyncClient(base_url=hub.up.base, headers=headers, verify=PLAIN) as hook:
            held = post(hook, cwd=str(tmp_path))
            [ask] = await opened(hub)
            assert ask.project == project.id
            await hub.up.hub.desk.answer(ask.id, Allow())
            assert (await held).status_code == 200


async def test_no_rule_of_a_project_allows_what_its_claude_does_elsewhere(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    async with served(tmp_path) as hub:
        project = await hub.up.hub.desk.add_project(str(shop), "shop", Options())
        await hub.up.hub.inbox.save_rule(Rule("r_make", "allow", tool="Bash", command="make"))
        made = await hub.up.auth.make("hook", "agent", TESTER, "test", project=project.id)
        headers = {"authorization": f"Bearer {made.secret}"}
        suggested = {"permission_suggestions": [SUGGESTION]}
        async with httpx2.AsyncClient(base_url=hub.up.base, headers=headers, verify=PLAIN, timeout=30) as hook:
            inside = await post(hook, cwd=str(shop), **suggested)
            assert inside.json()["hookSpecificOutput"]["decision"]["behavior"] == "allow"
            held = post(hook, cwd=str(tmp_path), **suggested)
            [ask] = await opened(hub)
            assert isinstance(ask.body, Permission)
            assert (ask.body.offers, ask.body.suggestions) == ((), ())
            await hub.up.hub.desk.answer(ask.id, Deny("Not there."))
            assert (await held).json()["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_a_projects_secret_asks_nothing_in_the_name_of_another_projects_session(tmp_path: Path) -> None:
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    async with served(tmp_path) as hub:
        shop = await hub.up.hub.desk.add_project(str(tmp_path / "shop"), "shop", Options())
        there = await hub.session(directory=str(tmp_path / "bank"))
        here = await hub.session(directory=str(tmp_path / "shop"))
        made = await hub.up.auth.make("hook", "agent", TESTER, "test", project=shop.id)
        headers = {"authorization": f"Bearer {made.secret}"}
        async with httpx2.AsyncClient(base_url=hub.up.base, headers=headers, verify=PLAIN, timeout=30) as hook:
            for cwd in ("shop", "bank"):
                response = await post(hook, cwd=str(tmp_path / cwd), session_id=there.claude_id)
                assert (response.status_code, response.json()) == (200, {})
            assert await hub.up.hub.desk.asks(state=None) == []
            held = post(hook, cwd=str(tmp_path / "shop"), session_id=here.claude_id)
            [ask] = await opened(hub)
            await hub.up.hub.desk.answer(ask.id, Deny("No."))
            assert (await held).json()["hookSpecificOutput"]["decision"]["behavior"] == "deny"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"tool_input": "' + b"x" * (17 * 1024 * 1024) + b'"}', 413),
        (json.dumps({**CALL, "tool_input": {"command": "\ud800"}}).encode(), 200),
        (json.dumps({**CALL, "cwd": "/\ud800"}).encode(), 200),
        (json.dumps({**CALL, "session_id": "\udfff"}).encode(), 200),
        (json.dumps({**CALL, "session_id": "../../x", "agent_id": "../../../y", "tool_input": []}).encode(), 200),
        (b'{"a":' * 20_000, 200),
        (b"", 200),
    ],
    ids=["too large", "half an emoji", "odd directory", "odd session", "odd names", "deep", "empty"],
)
async def test_no_content_of_a_hook_is_a_fault_or_allows(tmp_path: Path, content: bytes, status: int) -> None:
    async with served(tmp_path, rules=[Rule("r", "allow")]) as hub, hub.client("agent") as hook:
        held = asyncio.create_task(hook.post("/hooks/claude", content=content))
        refusing = asyncio.create_task(deny_all(hub))
        response = await held
        refusing.cancel()
        assert response.status_code == status
        assert '"allow"' not in response.text


async def deny_all(hub: Served) -> None:
    for ask in await opened(hub):
        await hub.up.hub.desk.answer(ask.id, Deny("No."))


async def test_a_wrong_secret_is_refused_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        for value in ("Bearer wrong", "Bearer", "Basic YTpi", f"Bearer {'x' * 5000}", ""):
            async with httpx2.AsyncClient(base_url=hub.up.base, verify=PLAIN, timeout=30) as hook:
                response = await hook.post(
                    "/hooks/claude", json=CALL, headers={"authorization": value} if value else {}
                )
                assert response.status_code == 401
                assert "hookSpecificOutput" not in response.text
        assert await hub.up.hub.desk.asks(state=None) == []


async def test_the_hook_is_offered_to_admins_until_it_is_there_or_dismissed(tmp_path: Path) -> None:
    async def offered(client: httpx2.AsyncClient) -> bool:
        return bool((await client.get("/api/me")).json().get("offers_hook"))

    for closing in ("sync", "dismiss"):
        home = tmp_path / closing
        home.mkdir()
        async with (
            served(home, environment={"HOME": str(home)}) as hub,
            hub.client("viewer") as viewer,
            hub.client("admin") as admin,
        ):
            assert hub.up.offers_hook
            assert (await offered(admin), await offered(viewer)) == (True, False)
            if closing == "sync":
                await admin.post("/api/sync", json={})
            else:
                assert (await viewer.delete("/api/hook-offer")).status_code == 403
                await admin.delete("/api/hook-offer")
            assert not await offered(admin)
        async with served(home) as hub:
            assert not hub.up.offers_hook


async def test_sync_writes_a_secret_that_works_keeps_it_and_revokes_it_again(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    async with served(tmp_path, environment={"HOME": str(tmp_path)}) as hub, hub.neighbour() as owner:
        await hub.up.hub.desk.add_project(str(shop), "shop", Options())
        for path, file in (("/api/projects/shop/sync", shop / ".claude/settings.local.json"),
                           ("/api/sync", tmp_path / ".claude/settings.json")):  # fmt: skip
            assert (await owner.post(path, json={})).status_code == 200
            [group] = json.loads(file.read_text())["hooks"]["PermissionRequest"]
            [hook] = group["hooks"]
            assert (hook["type"], hook["url"]) == ("http", f"{hub.up.base}/hooks/claude")
            secret = hook["headers"]["Authorization"].removeprefix("Bearer ")
            principal = await hub.up.auth.admit(secret)
            assert principal is not None
            assert principal.role == "agent"
            assert (await owner.post(path, json={})).json()["changed"] == []

            # A secret that was revoked is replaced.
            assert principal.token is not None
            await hub.up.auth.revoke(principal.token.id, TESTER, "test")
            assert (await owner.post(path, json={})).json()["changed"] != []
            [group] = json.loads(file.read_text())["hooks"]["PermissionRequest"]
            renewed = group["hooks"][0]["headers"]["Authorization"].removeprefix("Bearer ")
            assert await hub.up.auth.admit(renewed) is not None
            assert (await owner.post(path, json={"remove": True})).status_code == 200
            assert await hub.up.auth.admit(renewed) is None
            assert not file.exists()
