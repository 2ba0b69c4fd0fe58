"""What rows hold is known to msgspec before a thread reads the first one: finding out in two threads is fatal."""

import subprocess
import sys

SCRIPT = """
import sys
from datetime import UTC, datetime

from msgspec import _utils, json

from handraise.store import rows
from handraise.model.answers import read_answer
from handraise.model.asks import BODIES, read_body, read_settlement


def watch(frame, _event, _argument):
    if frame.f_code is _utils.get_class_annotations.__code__:
        raise SystemExit("a type was looked at when it was first used")


sys.setprofile(watch)
bodies = {
    "question": {"questions": [{"question": "q", "header": "h", "options": [{"label": "l", "description": "d"}]}]},
    "permission": {"tool": "Bash", "input": {}},
    "plan": {"plan": "p"},
    "form": {"message": "m", "server": "s", "schema": {}},
    "trust": {"directory": "/d", "brought": [], "files": {}},
}
answers = {
    "question": [{"answers": [{"labels": ["l"]}]}],
    "permission": [{"allow": True}, {"allow": False}],
    "plan": [{"approve": True}, {"approve": False}, {"outline": True}],
    "form": [{"action": "accept"}],
    "trust": [{"trust": "never"}],
}
at = datetime(2026, 1, 1, tzinfo=UTC)
for kind in BODIES:
    read_body(kind, json.encode(bodies[kind]))
    for answer in answers[kind]:
        read_answer(kind, dict(answer))
        by = {"kind": "person", "name": "ana"}
        stored = {"state": "answered", "answer": answer, "by": by, "from": "web", "at": at}
        print(read_settlement(kind, json.encode(stored)).by.name)
    print(read_settlement(kind, json.encode({"state": "withdrawn", "reason": "r", "at": at})).reason)
"""


def test_no_type_is_looked_at_while_rows_are_read() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["ana", "r", "ana", "ana", "r", "ana", "ana", "ana", "r", "ana", "r", "ana", "r"]
