"""A hub that notes when an ask passes each step, and writes that to a file when it ends.

Methods are wrapped from here, so the hub's own code has no tracing, and costs nothing without it.
"""

import functools
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from handraise.api.chunks import ChunkWriter
from handraise.api.guard import ApiGuard
from handraise.api.server import _Connection
from handraise.api.stream import Streams
from handraise.claude.fifo import Fifo
from handraise.claude.locate import locate
from handraise.claude.watch import Inotify
from handraise.feed import Feed
from handraise.hub.desk import LocalDesk
from handraise.inbox.inbox import Inbox
from handraise.session.runner import Runner
from handraise.store.changes import OpenAsk, SettleAsk
from handraise.store.sqlite.writer import Writer
from handraise.wire.connection import Connection
from handraise.wire.frames import CanUseTool, ControlRequest, HookCallback
from http_servers import be_hub

MARKS: list[tuple[float, str]] = []
"""Appended to from two threads."""
Named = str | None
Name = Callable[..., Named]


def mark(step: Named) -> None:
    if step is not None:
        MARKS.append((time.monotonic(), step))


def before(of: Any, method: str, name: Name) -> None:
    """Notes each call of a method; `name` gets its arguments."""
    real = getattr(of, method)

    @functools.wraps(real)
    async def waited(*arguments: Any, **named: Any) -> Any:
        mark(name(*arguments))
        return await real(*arguments, **named)

    @functools.wraps(real)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        mark(name(*arguments))
        return real(*arguments, **named)

    setattr(of, method, waited if inspect.iscoroutinefunction(real) else wrapped)


def after(of: Any, method: str, name: Name) -> None:
    """Notes each return; `name` gets the result, then the arguments."""
    real = getattr(of, method)

    @functools.wraps(real)
    async def waited(*arguments: Any, **named: Any) -> Any:
        result = await real(*arguments, **named)
        mark(name(result, *arguments))
        return result

    @functools.wraps(real)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        result = real(*arguments, **named)
        mark(name(result, *arguments))
        return result

    setattr(of, method, waited if inspect.iscoroutinefunction(real) else wrapped)


def in_frames(frames: Any) -> str:
    found = [type(each.request) for each in frames if isinstance(each, ControlRequest)]
    return "ask " if CanUseTool in found else "check " if HookCallback in found else ""


def in_changes(changes: Any) -> str:
    kinds = {type(each) for each in changes}
    return "ask " if OpenAsk in kinds else "answer " if SettleAsk in kinds else ""


def in_group(group: Any) -> str:
    return in_changes([change for batch in group for change in batch.changes])


def in_line(line: bytes) -> str:
    return "answer " if b'"behavior"' in line else "check "


def in_news(news: Any) -> str:
    """Of a follower: items, a preview, or nothing."""
    return "ask " if isinstance(news, tuple | list) and any(b'"ask.opened"' in each.content for each in news) else ""


def install() -> None:
    _watch_reads()
    before(Inotify, "_ring", lambda *_: "inotify")
    for method in ("_hear", "_hear_now"):
        before(Runner, method, lambda *_: "taken")
    after(Connection, "receive_frames", lambda frames, *_: f"{in_frames(frames)}decoded")
    after(Runner, "_observe", lambda *_: "observed")
    after(Inbox, "consider", lambda *_: "considered")
    before(Writer, "order", lambda _, batch: f"{in_changes(batch.changes)}ordered")
    before(Writer, "_commit", lambda _, group: f"{in_group(group)}picked up")
    after(Writer, "_outcome", lambda _, __, changes: f"{in_changes(changes)}executed")
    after(Writer, "_commit", lambda _, __, group: f"{in_group(group)}committed")
    before(Inbox, "_committed", lambda _, asks: "answer on loop" if asks[0].settlement else "ask on loop")
    before(Feed, "_spread", lambda _, items: f"{in_news(items)}spread")
    after(Streams, "chunk", lambda _, __, news, *___: f"{in_news(news)}encoded")
    after(ChunkWriter, "write", lambda _, __, chunk: "ask sent" if b'"ask.opened"' in chunk else "sent")
    before(_Connection, "data_received", lambda _, data: "answer received" if data.startswith(b"POST") else None)
    before(ApiGuard, "enter", lambda *_: "answer app")
    after(_Connection, "on_response_complete", lambda *_: "answer responded")
    after(ApiGuard, "_recognise", lambda *_: "answer authenticated")
    before(LocalDesk, "answer_to", lambda *_: "answer decoded")
    before(Runner, "_ask_settled", lambda *_: "answer woken")
    for method in ("write", "write_now"):
        before(Fifo, method, lambda _, line: f"{in_line(line)}line made")
        after(
            Fifo,
            method,
            lambda is_written, _, line: f"{in_line(line)}line written" if is_written is not False else None,
        )


def _watch_reads() -> None:
    real = os.pread

    def pread(file: int, size: int, offset: int) -> bytes:
        chunk = real(file, size, offset)
        if chunk:
            kind = "ask " if b'"can_use_tool"' in chunk else "check " if b'"hook_callback"' in chunk else ""
            mark(f"{kind}read")
        return chunk

    os.pread = pread


if __name__ == "__main__":
    install()
    uvloop.run(be_hub(sys.argv[1], locate()))
    Path(sys.argv[1], "marks.json").write_text(json.dumps(sorted(MARKS)))
