"""What Prometheus gets."""

from pathlib import Path

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from api.events import feed
from api.served import A, Served, served
from handraise.api.metrics import SECONDS, Counted, Waits
from handraise.api.prometheus import render
from handraise.model.asks import Plan
from handraise.model.sessions import Checkpoint
from handraise.store.changes import Advance


async def test_open_asks_time_to_answer_sessions_streams_and_errors_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path) as hub, hub.client("approver") as client:
        await hub.session(phase="idle")
        asks = [await hub.ask(), await hub.ask(), await hub.ask(Plan("…"))]
        await client.post(f"/api/asks/{asks[0].id}/answer", json={"answer": A})
        await client.get("/api/nothing")
        async with feed(client):
            response = await scrape(hub)
        assert response["handraise_asks_open", "question"] == 1
        assert response["handraise_asks_open", "plan"] == 1
        assert response["handraise_answer_seconds_count", "question"] == 1
        assert response["handraise_answer_seconds_sum", "question"] < 60
        assert response["handraise_sessions", "idle"] == 1
        assert response["handraise_sessions", "working"] == 0
        assert response["handraise_streams_open", ""] == 1
        assert response["handraise_http_responses_total", "404"] == 1
        assert response["handraise_http_responses_total", "200"] >= 1


async def test_asks_that_were_open_before_the_hub_count_too(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        ask = await hub.ask()
    async with served(tmp_path) as later, later.client("approver") as client:
        assert (await scrape(later))["handraise_asks_open", "question"] == 1
        await client.post(f"/api/asks/{ask.id}/answer", json={"answer": A})
        response = await scrape(later)
        assert response["handraise_asks_open", "question"] == 0
        assert response["handraise_answer_seconds_count", "question"] == 1


async def test_what_claude_said_and_nobody_took_in_is_the_lag(tmp_path: Path) -> None:
    async with served(tmp_path) as hub:
        session = await hub.session(phase="working")
        folder = hub.state / "sessions" / session.id / str(session.run)
        folder.mkdir(parents=True)
        (folder / "out.ndjson").write_bytes(b"x" * 1000)
        assert (await scrape(hub))["handraise_journal_lag_bytes", ""] == 1000
        await hub.up.hub.store.apply([Advance(Checkpoint(session.id, session.run, 990, b""))])
        assert (await scrape(hub))["handraise_journal_lag_bytes", ""] == 10


def test_times_to_answer_are_written_as_the_library_writes_them() -> None:
    registry = CollectorRegistry()
    theirs = Histogram(
        "handraise_answer_seconds",
        "Time from an ask to its answer",
        ["kind"],
        registry=registry,
        buckets=SECONDS,
    )
    ours: dict[str, Waits] = {}

    def page() -> list[str]:
        written_by_us = render(Counted({}, {}, 0, 0, {}, ours)).decode()
        return [row for row in written_by_us.splitlines() if "answer_seconds" in row and "_created{" not in row]

    def expected() -> list[str]:
        return [row for row in generate_latest(registry).decode().splitlines() if "_created{" not in row]

    assert page() == expected()
    for kind in ("question", "plan"):
        for seconds in (0.0, 1.0, 1.5, 3600.0, 86400.0, 86400.5):
            theirs.labels(kind).observe(seconds)
            ours.setdefault(kind, Waits(since=0.0)).note(seconds)
    assert page() == expected()


async def scrape(hub: Served) -> dict[tuple[str, str], float]:
    async with hub.client("viewer") as client:
        response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, next(iter(sample.labels.values()), "") if "le" not in sample.labels else sample.labels["le"]): (
            sample.value
        )
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }
