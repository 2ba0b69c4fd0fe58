"""Trust in directories over HTTP: who may grant it, what is stored, and how it is revoked."""

from pathlib import Path

import pytest

from api.served import error_of, served
from handraise.model.trust import Brought, Trust

BODY = Trust("/work/app", (Brought("hook", "Stop", "x", ".claude/settings.json"),), {"a": "1"})


async def test_trusting_takes_an_admin_and_refusing_an_approver(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as approver, hub.client("admin") as admin:
        ask = await hub.ask(BODY)
        where = f"/api/asks/{ask.id}/answer"

        refused = await approver.post(where, json={"answer": {"trust": "exactly"}, "digest": ask.digest})
        assert (refused.status_code, error_of(refused)["code"]) == (403, "not_allowed")
        assert (await hub.up.hub.desk.ask(ask.id)).state == "open"
        (entry,) = (await admin.get("/api/audit", params={"what": "refused"})).json()["entries"]
        assert (entry["by"]["name"], entry["ask"], entry["detail"]["tried"]) == (
            "a approver",
            ask.id,
            "trust a directory",
        )

        given = await admin.post(where, json={"answer": {"trust": "exactly"}, "digest": ask.digest})
        assert given.status_code == 200
        (trust,) = (await approver.get("/api/trust")).json()["trust"]
        assert (trust["directory"], trust["level"], trust["digest"], trust["made_by"]) == (
            "/work/app", "exactly", ask.digest, "a admin",
        )  # fmt: skip

        assert (await approver.delete("/api/trust", params={"directory": "/work/app"})).status_code == 403
        assert (await admin.delete("/api/trust", params={"directory": "/work/app"})).status_code == 200
        assert (await admin.delete("/api/trust", params={"directory": "/work/app"})).status_code == 404
        assert (await admin.delete("/api/trust")).status_code == 422
        assert (await admin.get("/api/trust")).json() == {"trust": []}

        other = await hub.ask(BODY)
        without = await approver.post(f"/api/asks/{other.id}/answer", json={"answer": {"trust": "without"}})
        assert without.status_code == 200


async def test_an_answer_to_something_else_or_to_what_was_not_shown_counts_for_nothing(tmp_path: Path) -> None:
    hidden = Trust("/work/app", (), {}, ("`.mcp.json` is not UTF-8 text.",))
    async with served(tmp_path) as hub, hub.client("admin") as admin:
        ask, unseen = await hub.ask(BODY), await hub.ask(hidden)
        where = f"/api/asks/{ask.id}/answer"
        stale = await admin.post(where, json={"answer": {"trust": "exactly"}, "digest": "sha256:0"})
        assert stale.status_code == 409
        assert (
            await admin.post(f"/api/asks/{unseen.id}/answer", json={"answer": {"trust": "exactly"}})
        ).status_code == 422
        assert (await hub.up.hub.desk.trusts()) == []


@pytest.mark.parametrize(
    "answer", [{"allow": True}, {"trust": True}, {"trust": "yes"}, {"trust": "exactly", "x": 1}, {}]
)
async def test_only_the_three_words_are_an_answer(tmp_path: Path, answer: dict[str, object]) -> None:
    async with served(tmp_path) as hub, hub.client("admin") as admin:
        ask = await hub.ask(BODY)
        assert (await admin.post(f"/api/asks/{ask.id}/answer", json={"answer": answer})).status_code == 422
