"""Whether or not it fits the OpenAPI document: no request causes an error of ours, and every response is as
promised."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable

from api.served import served

# Streams have no end that a fuzzer could wait for; other tests cover them.
STREAMS = {"/api/feed", "/mcp", "/mcp/lines"}


@dataclass(frozen=True)
class Reached:
    base: str
    token: str
    document: dict[str, Any]


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reached]:
    """A hub in its own thread, since the fuzzer blocks."""
    up: Future[Reached] = Future()
    done = threading.Event()
    folder = tmp_path_factory.mktemp("hub")

    async def serve() -> None:
        async with served(folder, limit=1, seconds=900) as hub:
            session = await hub.session(phase="idle")
            await hub.ask(session=session.id)
            async with hub.client("admin") as client:
                document = (await client.get("/api/openapi.json")).json()
            up.set_result(Reached(hub.up.base, await hub.token("admin"), document))
            await asyncio.to_thread(done.wait)
            assert not any(status >= 500 for status in hub.up.app.answered), hub.up.app.answered

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    yield up.result(60)
    done.set()
    thread.join()


@pytest.mark.parametrize("examples", [2, pytest.param(40, marks=[pytest.mark.torture, pytest.mark.limit(900)])])
def test_no_request_that_the_document_describes_or_forbids_is_a_fault(reached: Reached, examples: int) -> None:
    import schemathesis  # takes longer than many tests, and every worker imports this file
    from schemathesis.generation import GenerationMode

    schema = schemathesis.openapi.from_dict(reached.document)
    schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    tried = 0
    with requests.Session() as session:
        session.headers["authorization"] = f"Bearer {reached.token}"
        for result in schema.get_all_operations():
            operation = result.ok()  # type: ignore[union-attr]
            if operation.path in STREAMS:
                continue
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                tried += _try(operation, mode, reached.base, session, examples)
    assert tried > 75 * examples


def _try(operation: Any, mode: Any, base: str, session: requests.Session, examples: int) -> int:
    from schemathesis import checks

    cases = operation.as_strategy(generation_mode=mode)
    tried = []

    @seed(1)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def attempt(case: Any) -> None:
        response = case.call(base_url=base, session=session, timeout=60, allow_redirects=False)
        tried.append(response.status_code)
        promised = [checks.not_a_server_error, checks.content_type_conformance, checks.response_schema_conformance]
        case.validate_response(response, checks=promised)

    with suppress(Unsatisfiable):  # a route without input can't get a wrong one
        attempt()
    return len(tried)
