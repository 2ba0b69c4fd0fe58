"""Turns any error into a sentence and an exit code, never a traceback."""

import errno
import json
import os
import sys
from contextlib import suppress

from handraise.cli.client import INTERRUPTED, USAGE, HubError, NoHub

FAILED, WRONG, NO_HUB, REFUSED, PORT_TAKEN = 1, 2, 3, 4, 5
BY_SIGNAL = 128
SIGINT = 2
_DENIED_STATUSES = (401, 403, 409, 410)
_UNWRITTEN = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF)
_TRACE = "HANDRAISE_TRACEBACK"


def leave(error: BaseException) -> int:
    """Prints what went wrong; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        silence(1)  # the reader closed the pipe, as `head` does
        silence(2)
        return FAILED
    sentence, code = _outcome(error)
    if os.environ.get(_TRACE):
        import traceback

        with suppress(OSError, ValueError):
            traceback.print_exception(error)
    if not ("--json" in sys.argv and not _is_unprinted(error) and _printed(json.dumps({"error": sentence}))):
        _say(sentence)
    return code


def _is_unprinted(error: BaseException) -> bool:
    """Whether writing to stdout is what failed."""
    return isinstance(error, OSError) and error.errno in _UNWRITTEN and error.filename is None


def _printed(text: str) -> bool:
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        silence()
        return False
    return True


def _say(sentence: str) -> None:
    """Prints to stderr; if that fails, only the exit code is left."""
    try:
        # A locale that knows only ASCII must not hide what went wrong.
        encoding = sys.stderr.encoding or "ascii"
        sys.stderr.write(f"handraise: {sentence}\n".encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(2)


def silence(stream: int = 1) -> None:
    """Discards further output; otherwise Python would try to flush it, and fail again, at exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream)
        os.close(nowhere)


def _outcome(error: BaseException) -> tuple[str, int]:
    match error:
        case NoHub():
            return str(error), NO_HUB
        case HubError(code=code, status=status):
            known = {USAGE: WRONG, INTERRUPTED: BY_SIGNAL + SIGINT}
            return str(error), known.get(code, REFUSED if status in _DENIED_STATUSES else FAILED)
        case KeyboardInterrupt():
            return "Interrupted.", BY_SIGNAL + SIGINT
        case UnicodeDecodeError():
            return f"The input isn't valid UTF-8 (byte {error.start}).", WRONG
        case UnicodeEncodeError(encoding="utf-8"):
            return "An argument isn't valid UTF-8.", WRONG
        case UnicodeEncodeError(encoding=encoding):
            silence()
            return f"This output can't be shown in {encoding}. Use a UTF-8 locale.", FAILED
        case OSError() if _is_unprinted(error):
            silence()
            return f"Can't write the output: {error.strerror}.", FAILED
        case OSError(filename=None):
            return f"{error.strerror or error}.", FAILED
        case OSError():
            return f"{error.filename}: {error.strerror or error}.", FAILED
        case _:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return f"Internal error ({what}). Set {_TRACE}=1 to see the traceback.", FAILED
