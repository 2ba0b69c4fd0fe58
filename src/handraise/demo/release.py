"""The release desk of the demo: an MCP server in a few lines, which wants a form filled. Only text."""

import json

RELEASE_SERVER = "release"
RELEASE_TOOL = "ship"

_PROGRAM = '''"""An MCP server on stdio with one tool, which asks a person for the particulars of a release."""

import json
import sys

FORM = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "title": "Version", "description": "Such as 1.2.0", "minLength": 1},
        "stage": {"type": "string", "title": "Stage", "enum": ["staging", "production"]},
        "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
        "announce": {"type": "boolean", "title": "Announce it", "default": False},
    },
    "required": ["version", "stage"],
}
TOOL = {
    "name": "ship",
    "description": "Ships the service, after a person has filled in the particulars.",
    "inputSchema": {"type": "object", "properties": {}},
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def finish(call, told):
    if told.get("action") != "accept":
        text, failed = "Nobody filled in the form.", True
    else:
        content = told["content"]
        text = f"Shipped {content['version']} to {content['stage']}. (Nothing was shipped: this is a demo.)"
        failed = False
    send(id=call, result={"content": [{"type": "text", "text": text}], "isError": failed})


def main():
    calls = {}
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            wanted = message["params"]["protocolVersion"]
            version = wanted if wanted < "2026" else "2025-11-25"
            info = {"name": "release", "version": "1"}
            send(id=number, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            send(id=number, result={"tools": [TOOL]})
        elif method == "tools/call":
            form = f"form-{number}"
            calls[form] = number
            params = {"message": "What is to be shipped?", "requestedSchema": FORM}
            send(id=form, method="elicitation/create", params=params)
        elif method is None and number in calls:
            finish(calls.pop(number), message.get("result", {}))
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "there is no such method"})


main()
'''


FILES = {"release.py": _PROGRAM}
"""The release desk, for a directory."""


def servers(python: str) -> str:
    """What makes Claude find it, in the person's own `.claude.json`; `python` runs it."""
    return json.dumps({"mcpServers": {RELEASE_SERVER: {"command": python, "args": ["release.py"]}}})
