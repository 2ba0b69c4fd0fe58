"""The hub's log: logfmt lines on stderr. Never contains what people or Claude wrote, or a secret."""

import logging
from datetime import UTC, datetime
from pathlib import Path
from traceback import extract_tb
from typing import TextIO

_FRAMES = 12
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has. Anything else was given with `extra`."""


def configure(to: TextIO, *, verbose: bool) -> None:
    """Warnings and errors; with `verbose`, also requests and session events."""
    handler = logging.StreamHandler(to)
    handler.setFormatter(LogfmtFormatter())
    logging.basicConfig(handlers=[handler], level=logging.INFO if verbose else logging.WARNING, force=True)
    # Bad requests aren't worth an entry, and our own client would log complete addresses.
    for name in ("uvicorn", "httpx2", "httpcore2", "mcp"):
        logging.getLogger(name).setLevel(logging.ERROR)


class LogfmtFormatter(logging.Formatter):
    """A record as one line of `key=value`: time, level, logger and event, then what it was logged with."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage().partition("\n")[0],
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= _error(record.exc_info[1])
        return " ".join(_pair(name, value) for name, value in fields.items())


def _error(error: BaseException) -> dict[str, object]:
    """An error's text may quote people: its type and location are enough to find it."""
    frames = extract_tb(error.__traceback__)[-_FRAMES:]
    where = " > ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames)
    return {"error": type(error).__name__, "where": where}


def _pair(name: str, value: object) -> str:
    """As https://brandur.org/logfmt has it: a flag is its name alone, and a value is quoted if it has to be."""
    if value is True:
        return name
    if value is None:
        return f"{name}="
    text = "false" if value is False else str(value)
    quoted = any(each in text for each in ' ="')
    if quoted:
        text = text.replace("\\", "\\\\")
    text = text.replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{text}"' if quoted else f"{name}={text}"
