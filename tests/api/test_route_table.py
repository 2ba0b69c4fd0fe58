"""The table of routes: each is in the document, and each is open to exactly the roles it names."""

import itertools
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import Response
from starlette.routing import compile_path

from api.served import error_of, served
from handraise.api.requests import ApiRequest, Route
from handraise.api.route_table import RouteTable
from handraise.model.tokens import ROLES, Role, may

DESCRIBED = Path(__file__).parents[2] / "docs" / "api.md"
PROMISED = {
    ("POST", "/api/sessions"),
    ("GET", "/api/sessions"),
    ("GET", "/api/sessions/{id}"),
    ("POST", "/api/sessions/{id}/say"),
    ("POST", "/api/sessions/{id}/interrupt"),
    ("POST", "/api/sessions/{id}/denied/{action}/allow"),
    ("POST", "/api/sessions/{id}/stop"),
    ("POST", "/api/sessions/{id}/mode"),
    ("POST", "/api/sessions/{id}/model"),
    ("POST", "/api/sessions/{id}/resume"),
    ("POST", "/api/sessions/{id}/fork"),
    ("GET", "/api/sessions/{id}/items"),
    ("GET", "/api/asks"),
    ("GET", "/api/asks/{id}"),
    ("POST", "/api/asks/{id}/answer"),
    ("GET", "/api/feed"),
    ("GET", "/api/projects"),
    ("POST", "/api/projects"),
    ("PATCH", "/api/projects/{id}"),
    ("GET", "/api/rules"),
    ("POST", "/api/rules"),
    ("DELETE", "/api/rules/{id}"),
    ("GET", "/api/tokens"),
    ("POST", "/api/tokens"),
    ("DELETE", "/api/tokens/{id}"),
    ("GET", "/api/audit"),
    ("GET", "/api/health"),
    ("GET", "/metrics"),
    ("GET", "/api/openapi.json"),
    ("POST", "/mcp"),
    ("POST", "/claude/relay-question"),
    ("POST", "/claude/submit-answer"),
    ("GET", "/claude/poll-answer"),
}


async def test_every_route_is_in_the_document_and_nothing_else_is(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        document = (await client.get("/api/openapi.json")).json()
        real = {(route.method, route.path) for route in hub.up.app.routes}
        written = {(method.upper(), path) for path, operations in document["paths"].items() for method in operations}
        assert real == written
        assert real >= PROMISED
        for operation in (each for operations in document["paths"].values() for each in operations.values()):
            assert operation["summary"]
            assert "default" in operation["responses"]
        ids = [each["operationId"] for operations in document["paths"].values() for each in operations.values()]
        assert len(ids) == len(set(ids))


async def test_a_path_leads_to_the_routes_that_starlette_would_find(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        routes = hub.up.app.routes
    table, patterns = RouteTable(routes), [(route, compile_path(route.path)[0]) for route in routes]
    filled = {re.sub(r"\{\w+\}", name, route.path) for route in routes for name in ("x", "a b\n", "asks", "{id}", "é.")}
    paths = {f"{path}{end}" for path in filled for end in ("", "/", "/x", "//")} | {
        path.replace("/", "//", 1) for path in filled
    }
    for path in (*sorted(paths), "", "/", "//", "api/asks", "/nowhere", "/api", "/API/asks"):
        expected: dict[str, tuple[Route, dict[str, str]]] = {}
        for route, pattern in patterns:
            match = pattern.match(path)
            if match:
                expected.setdefault(route.method, (route, match.groupdict()))
        assert table.find(path) == expected, path


def test_an_exact_path_comes_first_and_the_rest_of_the_path_is_still_found() -> None:
    async def endpoint(_: ApiRequest) -> Response:
        return Response()

    places = ("GET", "/a/{id}"), ("GET", "/a/new"), ("DELETE", "/a/{id}"), ("GET", "/{kind}/new/{id}")
    one, new, gone, deep = routes = [Route(method, path, None, endpoint, "") for method, path in places]
    table = RouteTable(routes)
    assert table.find("/a/new") == {"GET": (new, {}), "DELETE": (gone, {"id": "new"})}
    assert table.find("/a/old") == {"GET": (one, {"id": "old"}), "DELETE": (gone, {"id": "old"})}
    assert table.find("/a/new/7") == {"GET": (deep, {"kind": "a", "id": "7"})}
    assert table.find("/a/") == table.find("/a") == table.find("/a/new/") == {}


async def test_every_route_is_described_for_people_with_its_role_and_nothing_else_is(tmp_path: Path) -> None:
    described = set()
    for row in DESCRIBED.read_text().partition("## Every route")[2].splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        for method, path in re.findall(r"`([A-Z]+) (/[^`]*)`", cells[1] if len(cells) > 2 else ""):
            assert (method, path, cells[2]) not in described
            described.add((method, path, cells[2]))
    async with served(tmp_path) as hub:
        assert described == {(route.method, route.path, route.role or "everybody") for route in hub.up.app.routes}


async def test_everything_that_the_document_refers_to_is_in_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        document = (await client.get("/api/openapi.json")).json()
        known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
        assert set(_references(document)) <= known


@pytest.mark.parametrize("role", [*ROLES, None])
async def test_each_way_lets_in_who_may_and_nobody_else(tmp_path: Path, role: Role | None) -> None:
    async with served(tmp_path) as hub, hub.client(role) as client:
        for route in hub.up.app.routes:
            status = await _try(client, route)
            if route.role is None and role == "agent" and route.refuses_agents:
                assert status == 403, (route.method, route.path)
            elif route.role is None:
                assert status not in (403, 500), (route.method, route.path)
            elif role is None:
                assert status == 401, (route.method, route.path)
            elif may(role, route.role):
                assert status not in (401, 403, 500), (route.method, route.path)
            else:
                assert status == 403, (route.method, route.path)


async def test_what_an_agent_tried_is_in_the_audit(tmp_path: Path) -> None:  # lesson 45
    async with served(tmp_path) as hub, hub.client("agent") as agent, hub.client("admin") as admin:
        ask = await hub.ask()
        refused = await agent.post(f"/api/asks/{ask.id}/answer", json={"answer": {"answers": [{"labels": ["A"]}]}})
        assert (refused.status_code, error_of(refused)["code"]) == (403, "not_allowed")
        entry = (await admin.get("/api/audit", params={"what": "refused"})).json()["entries"][-1]
        assert entry["ask"] == ask.id
        assert entry["by"] == {"kind": "person", "name": "a agent"}
        assert entry["detail"] == {"tried": "POST /api/asks/{id}/answer"}
        assert (await admin.get(f"/api/asks/{ask.id}")).json()["state"] == "open"


async def test_no_way_is_open_to_an_agent_but_the_ones_made_for_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        open_to_all = {(route.method, route.path) for route in hub.up.app.routes if route.role is None}
        assert open_to_all == {
            ("GET", "/login"),
            ("POST", "/api/login"),
            # The words of the sign-in page.
            ("GET", "/api/login"),
            ("GET", "/api/health"),
            ("GET", "/api/openapi.json"),
            # These need the secret of a run; no cookie or role is enough.
            ("POST", "/mcp/lines"),
            ("POST", "/claude/relay-question"),
            ("GET", "/claude/poll-answer"),
            # This needs the secret of a button.
            ("POST", "/api/notifications/buttons"),
        }
        assert not any(may("agent", route.role) for route in hub.up.app.routes if route.role not in (None, "agent"))


async def test_a_method_that_a_path_does_not_have_is_refused_and_the_others_are_named(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        paths = {
            route.path: {each.method for each in hub.up.app.routes if each.path == route.path}
            for route in hub.up.app.routes
        }
        for (path, there), method in itertools.product(paths.items(), ("HEAD", "PUT", "DELETE", "OPTIONS", "TRACE")):
            if method in there:
                continue
            refused = await client.request(method, path.format(id="x", say="x", number="0", action="x", delivery="x"))
            assert refused.status_code == 405, (method, path)
            assert refused.headers["allow"]
            assert "access-control-allow-origin" not in refused.headers
        for lost in ("/api/", "/api/nothing", "/api/sessions/x/y/z", "/api/asks/"):
            refused = await client.post(lost)
            assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found")


def _references(value: Any) -> Any:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


async def _try(client: httpx2.AsyncClient, route: Route) -> int:
    """Only the status: some of them are streams."""
    path = route.path.format(id="x", say="x", number="0", action="x", delivery="x")
    headers = {"origin": str(client.base_url).rstrip("/")}
    async with client.stream(route.method, path, content=b"{}", headers=headers) as response:
        return response.status_code
