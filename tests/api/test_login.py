"""Signing in and out: links that work once, tokens that can be revoked, cookies that last."""

import asyncio
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from http.cookies import Morsel, SimpleCookie
from pathlib import Path

import httpx2
import pytest

from api.served import PLAIN, TESTER, A, Served, error_of, served
from handraise.api.guard import TrustedProxy
from handraise.api.server import Peer, _peer
from handraise.auth import Auth
from handraise.model.tokens import Role
from handraise.store.changes import SaveToken


async def test_the_printed_link_lets_one_browser_in_once(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as first, hub.client() as second:
        entered = await first.get(hub.link)
        again = await second.get(hub.link)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert (again.status_code, error_of(again)["code"]) == (401, "unknown_token")
        me = (await first.get("/api/me")).json()
        assert len(me.pop("seat")) == 12
        assert me.pop("tools")
        assert me == {"name": "owner", "role": "admin", "source": "web", "language": "en", "offers_hook": True}
        assert (await second.get("/api/me")).status_code == 401


async def test_each_browser_has_a_seat_of_its_own_that_nobody_else_can_take(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as first, hub.client() as second, hub.client() as third:
        token = (await hub.up.auth.make("ann", "approver", TESTER, "test")).secret
        origin = {"origin": hub.up.base}
        seats = [
            (await each.post("/api/login", json={"secret": token}, headers=origin)).json()["seat"]
            for each in (first, second)
        ]
        assert len(set(seats)) == 2
        for _ in range(2):
            assert [(await each.get("/api/me")).json()["seat"] for each in (first, second)] == seats
        given = [cookie for cookie in first.cookies.jar if cookie.name.endswith("-seat")]
        assert [cookie.has_nonstandard_attr("HttpOnly") for cookie in given] == [True]
        assert given[0].value != seats[0], "whoever knows the seat cannot sit there"
        await third.post("/api/login", json={"secret": token}, headers=origin)
        claimed = await third.get("/api/me", headers={"handraise-seat": str(given[0].value)})
        assert claimed.json()["seat"] not in seats


async def test_who_says_where_they_sit_is_told_apart_and_who_does_not_is_nobody_in_particular(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        assert "seat" not in (await client.get("/api/me")).json()
        one, other, long = [
            (await client.get("/api/me", headers={"handraise-seat": each})).json()["seat"]
            for each in ("one", "other", "x" * 5000)
        ]
        assert len({one, other, long}) == 3
        assert len(long) == 12


async def test_of_a_hundred_who_come_at_once_by_one_link_one_is_let_in(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        auth = hub.up.auth
        code = await auth.make_code("owner", "admin", TESTER, "test")
        entered = await asyncio.gather(*(auth.login(code) for _ in range(100)))
        assert sum(each is not None for each in entered) == 1
        async with httpx2.AsyncClient(timeout=30, limits=httpx2.Limits(max_connections=100), verify=PLAIN) as client:
            answers = await asyncio.gather(*(client.get(hub.link) for _ in range(100)))
        statuses = [answer.status_code for answer in answers]
        assert statuses.count(303) == 1
        assert set(statuses) == {303, 401, 429}


async def test_a_code_is_good_for_ten_minutes(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        long_ago = datetime.now(UTC) - timedelta(minutes=10, seconds=1)
        earlier = Auth(hub.up.hub.store, lambda: long_ago, bytes)
        code = await earlier.make_code("owner", "admin", TESTER, "test")
        assert (await client.get("/login", params={"code": code})).status_code == 401


async def test_a_head_of_the_link_does_not_spend_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        assert (await client.head(hub.link)).status_code == 405
        assert (await client.get(hub.link)).status_code == 303


async def test_a_code_is_no_token(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        code = await hub.up.auth.make_code("owner", "admin", TESTER, "test")
        assert (await client.get("/api/me", headers={"authorization": f"Bearer {code}"})).status_code == 401
        assert (await client.get("/api/me", headers={"cookie": f"{_cookie_name(hub)}={code}"})).status_code == 401


async def test_without_a_code_there_is_the_page_or_a_sentence(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        shown = await client.get("/login")
        assert (shown.status_code, error_of(shown)["code"]) == (401, "login_needed")
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html>Paste your token.")
    async with served(tmp_path, page=page) as hub, hub.client() as client:
        assert (await client.get("/login")).text == "<!doctype html>Paste your token."
        refused = await client.get("/login", params={"code": "nonsense"})
        assert (refused.status_code, refused.text) == (401, "<!doctype html>Paste your token.")


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites_and_lasts(tmp_path: Path) -> None:  # lesson 50
    async with served(tmp_path) as hub, hub.client() as client:
        cookie = _cookie(hub, await client.get(hub.link))
        assert cookie["httponly"] is True
        assert cookie["samesite"].lower() == "lax"
        assert cookie["path"] == "/"
        assert int(cookie["max-age"]) > 300 * 24 * 3600
        assert cookie["domain"] == ""
        assert cookie["secure"] == ""


async def test_behind_a_proxy_that_speaks_tls_the_cookie_is_for_tls_only(tmp_path: Path) -> None:
    async with served(tmp_path, behind_proxy=True) as hub, hub.client() as client:
        assert _cookie(hub, await client.get(hub.link))["secure"] is True


async def test_a_token_is_pasted_and_whoever_revokes_it_shuts_that_browser_out(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        made = await hub.up.auth.make("a phone", "approver", TESTER, "test")
        origin = {"origin": hub.up.base}
        entered = await client.post("/api/login", json={"secret": f" {made.secret}\n"}, headers=origin)
        assert (entered.status_code, entered.json()["role"]) == (200, "approver")
        ask = await hub.ask()
        answered = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A}, headers=origin)
        assert answered.status_code == 200
        await hub.up.auth.revoke(made.token.id, TESTER, "test")
        assert (await client.get("/api/me")).status_code == 401


async def test_logging_out_ends_this_browser_and_leaves_a_pasted_token_good(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client, hub.browser() as browser:
        origin = {"origin": hub.up.base}
        assert (await browser.post("/api/logout")).status_code == 200
        assert (await browser.get("/api/me")).status_code == 401

        secret = await hub.token("viewer")
        await client.post("/api/login", json={"secret": secret}, headers=origin)
        record = dict(client.cookies)
        await client.post("/api/logout", headers=origin)
        assert [name for name in client.cookies if not name.endswith("-seat")] == []
        assert record
        bearer = {"authorization": f"Bearer {secret}"}
        assert (await client.get("/api/me", headers=bearer)).status_code == 200


@pytest.mark.parametrize("role", ["agent"])
async def test_an_agent_cannot_log_in(tmp_path: Path, role: Role) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        secret = await hub.token(role)
        refused = await client.post("/api/login", json={"secret": secret}, headers={"origin": hub.up.base})
        assert refused.status_code == 401
        by_cookie = await client.get("/api/me", headers={"cookie": f"{_cookie_name(hub)}={secret}"})
        assert by_cookie.status_code == 401


async def test_guessing_is_slowed_down_for_links_and_tokens_alike(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        origin = {"origin": hub.up.base}
        for number in range(10):
            if number % 2:
                tried = await client.get("/login", params={"code": f"guess-{number}"})
            else:
                tried = await client.post("/api/login", json={"secret": f"guess-{number}"}, headers=origin)
            assert tried.status_code == 401
        refused = await client.post("/api/login", json={"secret": "one more"}, headers=origin)
        assert (refused.status_code, error_of(refused)["code"]) == (429, "too_many_tries")
        # Scripts with a valid token are not delayed by it.
        bearer = {"authorization": f"Bearer {await hub.token('viewer')}"}
        assert (await client.get("/api/me", headers=bearer)).status_code == 200


async def test_who_guesses_does_not_lock_out_somebody_at_the_same_address(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        origin = {"origin": hub.up.base}
        for number in range(15):
            await client.post("/api/login", json={"secret": f"guess-{number}"}, headers=origin)
        assert (await client.post("/api/login", json={"secret": "guess"}, headers=origin)).status_code == 429
        token = await hub.token("viewer")
        assert (await client.post("/api/login", json={"secret": token}, headers=origin)).status_code == 200
        assert (await client.get(hub.link)).status_code == 303


async def test_behind_a_proxy_each_client_is_counted_alone(tmp_path: Path) -> None:
    proxy = TrustedProxy(None, frozenset({"127.0.0.1"}))
    async with served(tmp_path, proxy=proxy, behind_proxy=True) as hub, hub.client() as client:

        async def guess(forwarded: str) -> int:
            headers = {"origin": hub.up.base, "x-forwarded-for": forwarded}
            return (await client.post("/api/login", json={"secret": "guess"}, headers=headers)).status_code

        # What a client claims about itself is on the left, and doesn't make it another client.
        assert [await guess(f"203.0.113.{number}, 198.51.100.1") for number in range(11)] == [*[401] * 10, 429]
        assert await guess("198.51.100.2") == 401
        assert await guess("198.51.100.1, 198.51.100.2") == 401
        # No header for signed-in users was configured.
        assert (await client.get("/api/me", headers={"x-forwarded-user": "ana"})).status_code == 401
    async with served(tmp_path) as hub, hub.client() as client:
        assert [await guess(f"198.51.100.{number}") for number in range(11)] == [*[401] * 10, 429]


async def test_who_logged_in_and_who_could_not_is_on_record_with_where_from(tmp_path: Path) -> None:
    proxy = TrustedProxy(None, frozenset({"127.0.0.1"}))
    async with served(tmp_path, proxy=proxy, behind_proxy=True) as hub, hub.client() as client:
        token = await hub.token("viewer")
        for secret, address in (("guess", "198.51.100.1"), ("guess", "198.51.100.2"), (token, "198.51.100.3")):
            headers = {"origin": hub.up.base, "x-forwarded-for": address}
            await client.post("/api/login", json={"secret": secret}, headers=headers)
        desk = hub.up.hub.desk
        [login] = await desk.audit(what="login")
        assert (login.by.name, login.detail["address"]) == ("a viewer", "198.51.100.3")
        # Once, and then by their number: guesses must not fill the disk.
        [refused] = await desk.audit(what="refused")
        assert (refused.by.name, refused.detail) == ("nobody", {"tried": "to log in", "address": "198.51.100.1"})
        assert "guess" not in str(refused)
    async with served(tmp_path) as later:
        counted = (await later.up.hub.desk.audit(what="refused"))[-1]
        assert counted.detail == {"tried": "to log in", "address": "198.51.100.2", "times": 1}


async def test_no_secret_is_kept_anywhere(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        secret = await hub.token("admin")
        code = await hub.up.auth.make_code("owner", "admin", TESTER, "test")
        entered = await client.get("/login", params={"code": code})
        cookie = _cookie(hub, entered).value
        bearer = {"authorization": f"Bearer {secret}"}
        await client.get("/api/me", headers=bearer)
        assert (await client.get("/api/tokens", headers=bearer)).text.count(secret) == 0
        assert (await client.get("/api/audit", headers=bearer)).text.count(secret) == 0
        record = b"".join(path.read_bytes() for path in hub.state.rglob("*") if path.is_file())
        assert len(record) > 10_000
        for each in (secret, code, cookie, hub.link.partition("code=")[2]):
            assert len(each) > 40
            assert each.encode() not in record


async def test_a_token_has_a_name_a_role_an_end_and_a_last_use(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.neighbour() as owner, hub.client() as client:
        until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        made = await owner.post("/api/tokens", json={"name": "CI", "role": "viewer", "expires_at": until})
        assert made.status_code == 201
        assert made.json()["token"]["last_used_at"] is None
        bearer = {"authorization": f"Bearer {made.json()['secret']}"}
        assert (await client.get("/api/me", headers=bearer)).json()["name"] == "CI"
        [listed] = [each for each in (await owner.get("/api/tokens")).json()["tokens"] if each["name"] == "CI"]
        assert listed["last_used_at"] is not None
        assert (listed["role"], listed["kind"]) == ("viewer", "token")

        await owner.delete(f"/api/tokens/{listed['id']}")
        assert (await client.get("/api/me", headers=bearer)).status_code == 401
        assert all(each["name"] != "CI" for each in (await owner.get("/api/tokens")).json()["tokens"])
        [gone] = (await owner.get("/api/tokens", params={"state": "gone"})).json()["tokens"]
        assert (gone["name"], gone["revoked_at"] is not None) == ("CI", True)
        assert (await owner.get("/api/tokens", params={"state": "lost"})).status_code == 422
        assert (await owner.delete("/api/tokens/t_none")).status_code == 404


async def test_a_use_that_crosses_a_revocation_does_not_undo_it(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        made = await hub.up.auth.make("a phone", "viewer", TESTER, "test")
        await hub.up.auth.revoke(made.token.id, TESTER, "test")
        await hub.up.hub.store.apply([SaveToken(made.token)])
        assert await hub.up.auth.admit(made.secret) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "", "role": "viewer"},
        {"name": " ", "role": "viewer"},
        {"name": "x" * 201, "role": "viewer"},
        {"name": "x", "role": "king"},
        {"name": "x"},
        {"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "role": "viewer", "expires_at": "2030-01-01T00:00:00"},
        {"name": "x", "role": "viewer", "expires_at": "soon"},
        {"name": "x", "role": "viewer", "expire": None},
    ],
)
async def test_a_token_that_makes_no_sense_is_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    async with served(tmp_path) as hub, hub.neighbour() as owner:
        refused = await owner.post("/api/tokens", json=wrong)
        assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")


async def test_a_proxy_says_who_it_is_only_from_its_own_address(tmp_path: Path) -> None:
    trusted = TrustedProxy("x-user", frozenset({"127.0.0.1"}))
    stranger = TrustedProxy("x-user", frozenset({"10.0.0.1"}))
    for proxy, status in ((trusted, 200), (stranger, 401)):
        folder = tmp_path / str(status)
        async with served(folder, proxy=proxy, behind_proxy=True) as hub, hub.client() as client:
            named = await client.get("/api/me", headers={"x-user": "ana"})
            assert named.status_code == status
            if status == 200:
                me = named.json()
                assert me.pop("seat")
                assert me.pop("tools")
                assert me == {"name": "ana", "role": "approver", "source": "web", "language": "en"}
            assert (await client.get("/api/me")).status_code == 401
            twice = [("x-user", "ana"), ("x-user", "owner")]
            assert (await client.get("/api/me", headers=twice)).status_code == 401
            assert (await client.get("/api/me", headers={"x-user": "a" * 201})).status_code == 401
            # A page elsewhere must not act through the proxy, which knows its user by its own cookie.
            ask = await hub.ask()
            foreign = {"x-user": "ana", "origin": "https://evil.example"}
            tried = await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A}, headers=foreign)
            assert tried.status_code in (401, 403)


async def test_the_socket_and_all_that_is_kept_are_private(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        assert hub.state.stat().st_mode & 0o777 == 0o700
        assert (hub.state / "hub.sock").stat().st_mode & 0o777 == 0o600


async def test_a_new_link_is_made_for_the_next_browser(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.neighbour() as owner, hub.client() as client:
        made = await owner.post("/api/login-link")
        assert made.status_code == 201
        assert (await client.get(made.json()["link"])).status_code == 303


def _cookie_name(hub: Served) -> str:
    return f"handraise_{hub.up.base.rpartition(':')[2]}"


def _cookie(hub: Served, response: httpx2.Response) -> Morsel[str]:
    parsed: SimpleCookie = SimpleCookie()
    for each in response.headers.get_list("set-cookie"):
        parsed.load(each)
    return parsed[_cookie_name(hub)]


async def test_one_wrong_token_after_the_other_has_to_wait_and_good_ones_do_not(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client, hub.client("viewer") as good:
        assert (await good.get("/api/me")).status_code == 200

        async def guess(number: int) -> int:
            headers = {"authorization": f"Bearer guess-{number}"}
            return (await client.get("/api/me", headers=headers)).status_code

        assert [await guess(number) for number in range(200)] == [*[401] * 10, *[429] * 190]
        # Known to the hub or new to it: a valid token works, though they share the address.
        assert [(await good.get("/api/me")).status_code for _ in range(50)] == [200] * 50
        async with hub.client("viewer") as another:
            assert (await another.get("/api/me")).status_code == 200


@pytest.mark.parametrize("name", ["a\0b", "a\u202eb", "a\u200bb", " "])
async def test_names_with_hidden_characters_are_refused(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        for path, wanted in (
            ("/api/tokens", {"name": name, "role": "viewer"}),
            ("/api/projects", {"name": name, "path": str(tmp_path)}),
        ):
            refused = await client.post(path, json=wanted)
            assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")


async def test_a_method_that_does_nothing_is_told_all_that_do(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        for path, methods in (("/api/sessions", "GET, POST"), ("/api/health", "GET"), ("/api/tokens", "GET, POST")):
            refused = await client.request("PUT", path)
            assert (refused.status_code, refused.headers["allow"]) == (405, methods)


async def test_the_document_names_the_bounds_that_are_held(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as client:
        document = (await client.get("/api/openapi.json")).json()
        assert {"303", "200"} <= set(document["paths"]["/login"]["get"]["responses"])
        for path in ("/api/sessions", "/api/asks", "/api/items", "/api/audit"):
            parameters = document["paths"][path]["get"]["parameters"]
            limit = next(each["schema"] for each in parameters if each["name"] == "limit")
            for value, status in ((limit["maximum"], 200), (limit["maximum"] + 1, 422), (limit["minimum"] - 1, 422)):
                assert (await client.get(path, params={"limit": value})).status_code == status


async def test_a_peer_that_has_ended_is_nobody(tmp_path: Path) -> None:
    """Its pid may be the owner's own process by then."""
    async with served(tmp_path) as hub:
        connected = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdout.write('in')"
        listening = hub.state / "short.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(listening))
            server.listen()
            alive = subprocess.Popen([sys.executable, "-c", f"{connected}; sys.stdin.read()", str(listening)],
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # fmt: skip
            end, _ = server.accept()
            with end:
                assert _peer(end, lambda _: False) == Peer(alive.pid, is_agent=False)
                alive.communicate()
                assert _peer(end, lambda _: False) == Peer(alive.pid, is_agent=True)
