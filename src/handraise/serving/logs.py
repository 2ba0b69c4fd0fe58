"""The hub's log: structured lines on stderr. Never contains what people or Claude wrote, or a secret."""

import logging
from pathlib import Path
from traceback import extract_tb
from typing import TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

_FRAMES = 12
_ORDER = ["at", "level", "logger", "event"]


def configure(to: TextIO, *, verbose: bool) -> None:
    """Warnings and errors; with `verbose`, also requests and session events."""
    before: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _without_texts,
    ]
    after: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.LogfmtRenderer(key_order=_ORDER, drop_missing=True),
    ]
    handler = logging.StreamHandler(to)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=after))
    logging.basicConfig(handlers=[handler], level=logging.INFO if verbose else logging.WARNING, force=True)
    # Bad requests aren't worth an entry, and our own client would log complete addresses.
    for name in ("uvicorn", "httpx2", "httpcore2", "mcp"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _without_texts(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """An error's text may quote people: its type and location are enough to find it."""
    event["event"] = str(event["event"]).partition("\n")[0]
    raised = event.pop("exc_info", None)
    error = raised[1] if isinstance(raised, tuple) else raised
    if isinstance(error, BaseException):
        frames = extract_tb(error.__traceback__)[-_FRAMES:]
        event["error"] = type(error).__name__
        event["where"] = " > ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames)
    return event
