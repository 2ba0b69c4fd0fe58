"""Images sent with messages and returned by tools: served as images, and nothing else of either."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.served import Served, error_of, served
from handraise.model.actors import Person
from handraise.model.sessions import Say
from handraise.store.changes import QueueSay

PNG = b"\x89PNG\r\n\x1a\n picture"


def picture(data: str, kind: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


async def say(hub: Served, *blocks: dict[str, Any]) -> None:
    words = {"type": "text", "text": "Look."}
    text = Say("say-1", "s_1", (words, *blocks), Person("ann"), "web", datetime.now(UTC))
    await hub.session()
    await hub.up.hub.store.apply([QueueSay(text)])


async def test_a_picture_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await say(hub, picture(b64encode(b"first").decode()), picture(b64encode(PNG).decode()))
        shown = await client.get("/api/sessions/s_1/says/say-1/pictures/1")
        assert (shown.status_code, shown.content) == (200, PNG)
        assert shown.headers["content-type"] == "image/png"
        assert "sandbox" in ",".join(shown.headers.get_list("content-security-policy"))
        assert shown.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "s_1/says/say-1/pictures/2",
        "s_1/says/say-1/pictures/-1",
        "s_1/says/none/pictures/0",
        "s_2/says/say-1/pictures/0",
    ],
)
async def test_what_is_not_there_is_not_found(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await say(hub, picture(b64encode(PNG).decode()), picture("AA=="))
        refused = await client.get(f"/api/sessions/{path}")
        assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "block", [picture("PHN2Zz4=", "image/svg+xml"), picture("not base64"), picture("PHN2Zz4="), {"type": "image"}]
)
async def test_what_is_no_picture_is_not_shown(tmp_path: Path, block: dict[str, Any]) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client:
        await say(hub, block)
        refused = await client.get("/api/sessions/s_1/says/say-1/pictures/0")
        assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found")


async def test_who_is_not_logged_in_sees_no_picture(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client() as client:
        await say(hub, picture(b64encode(PNG).decode()))
        assert (await client.get("/api/sessions/s_1/says/say-1/pictures/0")).status_code == 401


async def test_a_picture_that_a_tool_returned_is_shown_from_the_journal(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("viewer") as client, hub.client() as stranger:
        await hub.session()
        folder = hub.state / "sessions" / "s_1" / "1"
        folder.mkdir(parents=True)
        content = [picture(b64encode(PNG).decode()), picture("PHN2Zz4=", "image/svg+xml")]
        block = {"type": "tool_result", "tool_use_id": "t_1", "content": content}
        line = json.dumps({"type": "user", "message": {"content": [block]}}, separators=(",", ":"))
        (folder / "out.ndjson").write_text(f"{line}\n")

        shown = await client.get("/api/sessions/s_1/actions/t_1/pictures/0")
        assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, PNG, "image/png")
        assert "sandbox" in ",".join(shown.headers.get_list("content-security-policy"))
        for path in ("s_1/actions/t_1/pictures/1", "s_1/actions/t_2/pictures/0", "s_9/actions/t_1/pictures/0"):
            assert (await client.get(f"/api/sessions/{path}")).status_code == 404
        assert (await stranger.get("/api/sessions/s_1/actions/t_1/pictures/0")).status_code == 401
