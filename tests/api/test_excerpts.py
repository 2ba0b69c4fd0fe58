"""Long texts over HTTP: whole by default, as excerpts for those who ask, and in parts."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from api.events import feed
from api.served import error_of, served
from handraise.model.asks import Permission
from handraise.model.items import ActionStarted
from handraise.present.diffs import EXCERPT
from handraise.store.changes import PublishItems

LINES = [f"line {number}" for number in range(20_000)]
CONTENT = "".join(f"{line}\n" for line in LINES)
DIFF = f"@@ -0,0 +1,{len(LINES)} @@\n" + "".join(f"+{line}\n" for line in LINES)
WRITE = Permission("Write", {"file_path": "/work/a", "content": CONTENT}, diff=DIFF)


async def test_an_ask_comes_whole_unless_an_excerpt_is_wanted(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        ask = await hub.ask(WRITE)
        [whole] = (await client.get("/api/asks")).json()["asks"]
        [cut] = (await client.get("/api/asks", params={"texts": "excerpt"})).json()["asks"]
        one = (await client.get(f"/api/asks/{ask.id}", params={"texts": "excerpt"})).json()
        async with feed(client, after=0, texts="excerpt") as stream:
            opened: dict[str, Any] = {}
            while opened.get("type") != "ask.opened":
                opened = (await anext(stream)).data
        [listed] = (await client.get("/api/items", params={"texts": "excerpt"})).json()["items"]

        assert "cut" not in whole
        assert whole["body"]["diff"] == DIFF
        assert whole["card"]["evidence"][0]["text"] == DIFF
        assert cut["cut"] is True
        assert len(cut["body"]["input"]["content"]) <= EXCERPT
        assert len(cut["card"]["evidence"][0]["text"]) <= EXCERPT
        assert cut["card"]["evidence"][0]["facts"]["lines"] == len(LINES) + 1
        assert cut["digest"] == whole["digest"]
        assert one == cut
        assert opened["ask"] == listed["ask"] == cut
        refused = await client.get("/api/asks", params={"texts": "some"})
        assert (refused.status_code, error_of(refused)["code"]) == (422, "invalid")
        assert (await client.get("/api/feed", params={"texts": "some"})).status_code == 422


async def test_any_lines_of_a_long_diff_can_be_had(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        ask = await hub.ask(WRITE)
        path = f"/api/asks/{ask.id}/evidence"
        part = (await client.get(f"{path}/0", params={"first": 15_000, "limit": 2})).json()
        rest = (await client.get(f"{path}/0", params={"first": 20_000})).json()
        assert part == {"text": "+line 14999\n+line 15000\n", "first": 15_000, "old": 0, "new": 15_000, "lines": 20_001}
        assert rest["text"] == "+line 19999\n"
        for wrong in ("1", "99", "x", "-1", "99999"):
            assert (await client.get(f"{path}/{wrong}")).status_code == 404, wrong
        assert (await client.get(f"{path}/0", params={"limit": 9_999})).status_code == 422
        assert (await client.get("/api/asks/a_none/evidence/0")).status_code == 404


async def test_an_actions_input_is_cut_too(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        started = ActionStarted("t_1", "file_change", "/work/a", "Write", {"file_path": "/work/a", "content": CONTENT})
        await hub.up.hub.store.apply([PublishItems("s_1", datetime.now(UTC), started)])
        [whole] = (await client.get("/api/items")).json()["items"]
        [cut] = (await client.get("/api/items", params={"texts": "excerpt"})).json()["items"]
        assert whole["input"]["content"] == CONTENT
        assert cut["cut"] is True
        assert len(cut["input"]["content"]) <= EXCERPT
        assert cut["traits"] == whole["traits"]
