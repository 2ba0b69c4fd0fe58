"""A child that stands in for the CLI: writes and asks what it is told to, and when. Uses only the standard library."""

import json
import sys
import time


def main() -> None:
    """Obeys its messages: `texts COUNT SECONDS`, `asks COUNT`, `busy`, `meets`, `wonders`, `plays FILE`."""
    for line in sys.stdin:
        response = json.loads(line)
        if response["type"] == "control_request":
            say({"type": "control_response", "response": {"subtype": "success", "request_id": response["request_id"]}})
        elif response["type"] == "user":
            say({**response, "isReplay": True})
            say({"type": "system", "subtype": "init", "session_id": "x", "model": "none", "permissionMode": "default"})
            obey(*str(response["message"]["content"]).split())


def obey(what: str, *numbers: str) -> None:
    if what == "texts":
        for _ in range(int(numbers[0])):
            time.sleep(float(numbers[1]))
            text(f"@{time.monotonic():.9f}")
    elif what == "asks":
        for number in range(int(numbers[0])):
            ask(f"r{time.monotonic_ns()}", number)
    elif what == "busy":
        be_busy()
    elif what == "plays":
        play(*numbers)
        return
    elif what in ("meets", "wonders"):
        meet()
        if what == "wonders":
            call("tools/call", name="ask_user", arguments={"question": "Which?"})
            return
    say({"type": "result", "subtype": "success", "is_error": False, "result": "", "total_cost_usd": 0})


def ask(name: str, number: int) -> None:
    """Asks, and prints when the answer could be read."""
    use = {"tool_name": "Bash", "input": {"command": f"make step-{number}"}, "tool_use_id": f"t{name}"}
    say({"type": "control_request", "request_id": name, "request": {"subtype": "can_use_tool", **use}})
    for line in sys.stdin:
        read_at = time.monotonic()
        if name in line:
            text(f"@{read_at:.9f}")
            return


def play(path: str) -> None:
    """Writes a file's contents as fast as they are read, and when that was; the turn continues."""
    with open(path) as file:
        sys.stdout.write(file.read())
    text(f"@{time.monotonic():.9f}")


def meet() -> None:
    """As Claude does with an MCP server at the other end of its own pipe."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "child", "version": "1"}}
    call("initialize", **client)
    call("tools/list")


def call(method: str, **params: object) -> None:
    name = f"m{time.monotonic_ns()}"
    message = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
    request = {"subtype": "mcp_message", "server_name": "handraise", "message": message}
    say({"type": "control_request", "request_id": name, "request": request})


def be_busy() -> None:
    """Like a Claude that streams: five pieces of text every quarter of a second, and a whole block every second."""
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "some more words "}}
    pieces = [{"type": "stream_event", "event": delta, "session_id": "x", "parent_tool_use_id": None}] * 5
    while True:
        begin = {"type": "message_start", "message": {"id": f"m{time.monotonic_ns()}", "content": []}}
        say({"type": "stream_event", "event": begin, "session_id": "x", "parent_tool_use_id": None})
        for _ in range(4):
            time.sleep(0.25)
            say(*pieces)
        text("some more words " * 20)


def text(words: str) -> None:
    content = [{"type": "text", "text": words}]
    say({"type": "assistant", "message": {"id": "m", "content": content}, "parent_tool_use_id": None})


def say(*frames: object) -> None:
    sys.stdout.write("".join(json.dumps(frame) + "\n" for frame in frames))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
