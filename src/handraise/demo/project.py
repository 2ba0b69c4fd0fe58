"""The files of the demo's project: a toy service, the code a script adds to it, and a release server. Only text."""

import json
from collections.abc import Collection

UPTIME = "Uptime"
FREE_DISK = "Free disk space"
RELEASE_SERVER = "release"
RELEASE_TOOL = "ship"

_SERVICE = '''"""A toy service that says hello."""

import json
import shutil
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

STARTED = time.monotonic()


def greet():
    return {"hello": "world"}


ROUTES = {"/": greet}


def answer(path):
    route = ROUTES.get(path)
    return (200, route()) if route else (404, {"error": "not found"})


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = answer(self.path)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", 8000), Service).serve_forever()
'''

_TEST_SERVICE = """import unittest

import service


class ServiceTest(unittest.TestCase):
    def test_it_greets(self):
        self.assertEqual(service.answer("/"), (200, {"hello": "world"}))

    def test_an_unknown_path_is_not_found(self):
        self.assertEqual(service.answer("/nowhere")[0], 404)
"""

_RELEASE_PROGRAM = '''"""An MCP server on stdio with one tool, which asks a person for the details of a release."""

import json
import sys

FORM = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "title": "Version", "description": "For example: 1.2.0", "minLength": 1},
        "stage": {"type": "string", "title": "Stage", "enum": ["staging", "production"]},
        "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
        "announce": {"type": "boolean", "title": "Announce", "default": False},
    },
    "required": ["version", "stage"],
}
TOOL = {
    "name": "ship",
    "description": "Ships the service after a person fills in the details.",
    "inputSchema": {"type": "object", "properties": {}},
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def finish(call, result):
    if result.get("action") != "accept":
        text, failed = "Nobody filled in the form.", True
    else:
        content = result["content"]
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
            params = {"message": "What should be shipped?", "requestedSchema": FORM}
            send(id=form, method="elicitation/create", params=params)
        elif method is None and number in calls:
            finish(calls.pop(number), message.get("result", {}))
        elif number is not None:
            send(id=number, error={"code": -32601, "message": "unknown method"})


main()
'''

SERVICE_FILES = {"service.py": _SERVICE, "test_service.py": _TEST_SERVICE}
RELEASE_FILES = {"release.py": _RELEASE_PROGRAM}


def service_with_health(path: str, checks: Collection[str]) -> str:
    """`service.py` with a health endpoint at `path` that reports `checks`."""
    fields = ['"status": "ok"']
    if UPTIME in checks:
        fields.append('"uptime_seconds": round(time.monotonic() - STARTED)')
    if FREE_DISK in checks:
        fields.append('"free_disk_bytes": shutil.disk_usage("/").free')
    health = f"def health():\n    return {{{', '.join(fields)}}}\n\n\n"
    routes = f'ROUTES = {{"/": greet, {_quoted(path)}: health}}'
    return _SERVICE.replace('ROUTES = {"/": greet}', health + routes)


def health_test(path: str) -> str:
    """`test_health.py`, which tests the endpoint."""
    return f"""import unittest

import service


class HealthTest(unittest.TestCase):
    def test_it_is_healthy(self):
        status, body = service.answer({_quoted(path)})
        self.assertEqual(status, 200)
        self.assertEqual(body["status"], "ok")
"""


def servers(python: str) -> str:
    """The person's own `.claude.json`, which connects Claude to the release server; `python` runs it."""
    return json.dumps({"mcpServers": {RELEASE_SERVER: {"command": python, "args": ["release.py"]}}})


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "").replace('"', "") + '"'
