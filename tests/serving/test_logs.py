"""The hub's log: one line for each record, in logfmt, without the text of errors."""

import io
import logging
from collections.abc import Iterator

import pytest

from handraise.serving import logs


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers = []  # the handlers of pytest would be closed
    try:
        yield io.StringIO()
    finally:
        root.handlers = before
        root.setLevel(level)


def lines(written: io.StringIO) -> list[str]:
    return [each.partition(" ")[2] for each in written.getvalue().splitlines()]


def test_a_record_is_a_line_with_what_it_was_logged_with(written: io.StringIO) -> None:
    logs.configure(written, verbose=True)
    logging.getLogger("handraise.api").info("%s %s", "GET", "/api/asks", extra={"status": 200})
    assert written.getvalue().startswith("at=20")
    assert lines(written) == ['level=info logger=handraise.api event="GET /api/asks" status=200']


def test_only_warnings_are_logged_unless_more_is_wanted(written: io.StringIO) -> None:
    logs.configure(written, verbose=False)
    logging.getLogger("handraise").info("a request")
    logging.getLogger("uvicorn").warning("a bad request")
    logging.getLogger("handraise").warning("trouble")
    assert lines(written) == ["level=warning logger=handraise event=trouble"]


@pytest.mark.parametrize(
    ("value", "written_as"),
    [
        (True, "it"),
        (False, "it=false"),
        (None, "it="),
        ("", "it="),
        ("a b", 'it="a b"'),
        ("a=b", 'it="a=b"'),
        ('say "no"\nand go', r'it="say \"no\"\nand go"'),
        ("C:\\x", "it=C:\\x"),
        ("C:\\x y", r'it="C:\\x y"'),
        (7, "it=7"),
    ],
)
def test_a_value_stays_one_value(written: io.StringIO, value: object, written_as: str) -> None:
    logs.configure(written, verbose=False)
    logging.getLogger("handraise").warning("e", extra={"it": value})
    assert lines(written) == [f"level=warning logger=handraise event=e {written_as}"]


def test_an_error_is_named_and_located_but_not_quoted(written: io.StringIO) -> None:
    logs.configure(written, verbose=False)
    try:
        int("what a person wrote")
    except ValueError:
        logging.getLogger("handraise").exception("it failed\nwhat a person wrote")
    (line,) = lines(written)
    assert line.startswith('level=error logger=handraise event="it failed" error=ValueError where=test_logs.py:')
    assert "person" not in line
