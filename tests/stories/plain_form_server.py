"""The server of `form_server.py` in raw JSON-RPC of 2025-11-25: it starts at once, for stories with many sessions.

The official SDK takes a second of processor time to start; `test_forms.py` uses it.
"""

import json
import sys
from typing import Any

PARCEL = {"type": "object", "properties": {"parcel": {"type": "string"}}, "required": ["parcel"]}
DELIVER = {
    "name": "deliver",
    "description": "Delivers a parcel to an address that a person gives.",
    "inputSchema": PARCEL,
}
ADDRESS = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "title": "Street", "description": "Street and number"},
        "floor": {"type": "integer", "title": "Floor", "default": 0, "minimum": 0, "maximum": 99},
        "lift": {"type": "boolean", "title": "Lift", "default": False},
        "door": {"type": "string", "title": "Door", "enum": ["left", "right"], "default": "left"},
    },
    "required": ["street"],
}
DEFAULTS = {"floor": 0, "lift": False, "door": "left"}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class FormServer:
    """Each call asks for an address, and ends with what a person gave."""

    def __init__(self) -> None:
        self.calls: dict[Any, tuple[Any, str]] = {}

    def receive(self, message: dict[str, Any]) -> None:
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            info = {"name": "forms", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            send(id=number, result=result)
        elif method == "tools/list":
            send(id=number, result={"tools": [DELIVER]})
        elif method == "tools/call":
            parcel = message["params"]["arguments"]["parcel"]
            asked = f"ask-{number}"
            self.calls[asked] = number, parcel
            params = {"mode": "form", "message": f"Where does {parcel} go?", "requestedSchema": ADDRESS}
            send(id=asked, method="elicitation/create", params=params)
        elif method is None and number in self.calls:
            self.finish(*self.calls.pop(number), message["result"])
        elif number is not None and method is not None:
            send(id=number, error={"code": -32601, "message": "unknown method"})

    def finish(self, call: Any, parcel: str, given: dict[str, Any]) -> None:
        if given["action"] == "accept":
            fields = {**DEFAULTS, **given["content"]}
            address = ", ".join(f"{name}={fields[name]!r}" for name in ADDRESS["properties"])
            text = f"{parcel} goes to Address({address})"
        else:
            text = f"{parcel} stays here: {given['action']}"
        send(id=call, result={"content": [{"type": "text", "text": text}]})


if __name__ == "__main__":
    server = FormServer()
    for line in sys.stdin:
        server.receive(json.loads(line))
