"""Writes chunks of a response to its connection at once, past ASGI's `send`. The only part that knows how uvicorn does.

ASGI's `send` is a coroutine: to send the same event to many clients, each client's task has to be woken for it. A
`ChunkWriter` is a plain call instead, for a response that has started, is chunked, and has nothing else to write at the
moment. Whoever uses it writes nothing with `send` at the same time, and ends the response with `send`, as always.
"""

from collections.abc import Callable
from typing import Final

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

EXTENSION: Final = "handraise.chunks"
Gone = Callable[[], None]


def chunk_of(piece: bytes) -> bytes:
    """The piece as one chunk (RFC 9112, 7.1), for every client that gets it. It must not be empty: that is the end."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


class ChunkWriter:
    """Writes to one client. `gone` is called when its connection is lost."""

    __slots__ = ("_flow", "_transport", "cycle", "gone")

    def __init__(self, cycle: RequestResponseCycle, gone: Gone) -> None:
        self.cycle = cycle
        self._flow = cycle.flow
        self._transport = cycle.transport
        self.gone = gone

    def write(self, chunk: bytes) -> bool:
        """Returns False, and writes nothing, if the client hasn't read enough of the rest, or the connection closes.

        Then `send` is right: it waits until there is room, or finds that the client is gone.
        """
        if self._flow.write_paused or self._transport.is_closing():
            return False
        self._transport.write(chunk)
        return True


def is_chunked(cycle: RequestResponseCycle) -> bool:
    """Whether chunks may be written: it has started, isn't over, and said that it is chunked."""
    return bool(cycle.response_started and cycle.chunked_encoding and not cycle.response_complete)


def writer_of(scope: Scope, gone: Gone) -> ChunkWriter | None:
    """The writer for a response that has started; None if its client is gone."""
    writer: ChunkWriter | None = scope["extensions"][EXTENSION](gone)
    return writer
