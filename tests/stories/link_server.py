"""A small MCP server over stdio for the stories, with tools that want a link visited. Raw JSON-RPC of 2025-11-25.

It is told over a named pipe, its only argument, which links were completed: one ID per line.
"""

import json
import sys
import threading
from typing import Any

WRITING = threading.Lock()
URL = "https://login.example.com:8443/oauth?x=1"
DISPLAY = {"title": "Sign in", "displayName": "Example", "description": "for the calendar"}
TOOLS = [
    {"name": name, "description": name, "inputSchema": {"type": "object", "properties": {}}}
    for name in ("sign_in", "sign_in_first")
]


def send(**message: Any) -> None:
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def report_completed(pipe: str) -> None:
    """Every link that the story says was completed."""
    while True:
        with open(pipe) as reports:
            for line in reports:
                send(method="notifications/elicitation/complete", params={"elicitationId": line.strip()})


class LinkServer:
    """Each call has the link `link-1`, `link-2` and so on."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.links = 0
        self.refused = False

    def receive(self, message: dict[str, Any]) -> None:
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            info = {"name": "links", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            send(id=number, result=result)
        elif method == "tools/list":
            send(id=number, result={"tools": TOOLS})
        elif method == "tools/call":
            self.call(number, message["params"]["name"])
        elif method is None and number in self.asked:
            self.finish(self.asked.pop(number), json.dumps(message.get("result") or message.get("error")))
        elif number is not None and method is not None:
            send(id=number, error={"code": -32601, "message": "unknown method"})

    def call(self, number: Any, tool: str) -> None:
        if tool == "sign_in":
            self.links += 1
            self.asked[f"ask-{self.links}"] = number
            params = {**self.link("Please sign in to Example"), "_meta": {"anthropic/permissionDisplay": DISPLAY}}
            send(id=f"ask-{self.links}", method="elicitation/create", params=params)
        elif not self.refused:
            self.refused = True
            self.links += 1
            data = {"elicitations": [self.link("Authorization is required.")]}
            send(id=number, error={"code": -32042, "message": "Sign in first.", "data": data})
        else:
            self.refused = False
            self.finish(number, "signed in at the second call")

    def link(self, message: str) -> dict[str, Any]:
        return {"mode": "url", "message": message, "url": URL, "elicitationId": f"link-{self.links}"}

    def finish(self, number: Any, text: str) -> None:
        send(id=number, result={"content": [{"type": "text", "text": text}]})


if __name__ == "__main__":
    threading.Thread(target=report_completed, args=(sys.argv[1],), daemon=True).start()
    server = LinkServer()
    for line in sys.stdin:
        server.receive(json.loads(line))
