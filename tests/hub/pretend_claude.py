"""A program that speaks Claude's format, for hubs that are tested without the real CLI: it starts in a moment.

A message is echoed and answered. One that contains "ask" makes it ask a question first; "wait" keeps the turn open;
after one with "slow" it takes its time to end.
Whatever it reads is appended to the file that PRETEND_LOG names, and its process ID to the one beside it.
"""

import json
import os
import sys
import time
from typing import Any

QUESTION = {
    "question": "Which database?",
    "header": "Store",
    "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    "multiSelect": False,
}
SLOW: list[float] = []


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def finish(text: str) -> None:
    say(
        type="assistant",
        message={"id": "m_1", "content": [{"type": "text", "text": text}]},
        parent_tool_use_id=None,
    )
    say(type="result", subtype="success", is_error=False, result=text)


def obey(line: dict[str, Any], numbers: "list[int]") -> None:
    match line:
        case {"type": "control_request", "request_id": request, "request": {"subtype": subtype}}:
            say(type="control_response", response={"subtype": "success", "request_id": request})
            if subtype == "end_session":
                time.sleep(SLOW.pop() if SLOW else 0)
                sys.exit()
            if subtype == "interrupt":
                finish("Interrupted.")
            elif subtype == "set_permission_mode":
                mode = line["request"]["mode"]
                say(type="system", subtype="status", status=None, permissionMode=mode)
        case {"type": "user", "uuid": uuid, "message": {"content": content}}:
            say(type="user", message={"content": content}, uuid=uuid, isReplay=True)
            say(type="system", subtype="init", permissionMode="default", model="opus")
            words = json.dumps(content)
            if "slow" in words:
                SLOW.append(0.7)
            if "ask" in words:
                numbers.append(len(numbers) + 1)
                asked = {"subtype": "can_use_tool", "tool_name": "AskUserQuestion", "tool_use_id": f"t_{numbers[-1]}"}
                request = {**asked, "input": {"questions": [QUESTION]}}
                say(type="control_request", request_id=f"r_{os.getpid()}_{numbers[-1]}", request=request)
            elif "wait" not in words:
                finish("Done.")
        case {"type": "control_response"}:
            say(**line)
            block = {"type": "tool_result", "tool_use_id": f"t_{numbers[-1]}", "content": "answered", "is_error": False}
            say(type="user", message={"content": [block]}, parent_tool_use_id=None)
            finish("Answered.")


def main() -> None:
    if "--version" in sys.argv:
        print("2.1.325 (Claude Code)")  # noqa: T201 (it is a program)
        return
    numbers: list[int] = []
    with open(f"{os.environ['PRETEND_LOG']}.pids", "a") as started:
        started.write(f"{os.getpid()}\n")
    with open(os.environ["PRETEND_LOG"], "a") as log:
        for text in sys.stdin:
            log.write(text)
            log.flush()
            obey(json.loads(text), numbers)


if __name__ == "__main__":
    main()
