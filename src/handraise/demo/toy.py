"""The toy service that the demo story works on: its files before, and the code the story adds. Only text."""

from collections.abc import Collection

UPTIME = "Uptime"
FREE_DISK = "Free disk space"

_SERVICE = '''"""A toy service: greets whoever asks."""

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

    def test_it_knows_what_it_does_not_know(self):
        self.assertEqual(service.answer("/nowhere")[0], 404)
"""

FILES = {"service.py": _SERVICE, "test_service.py": _TEST_SERVICE}


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
    """`test_health.py`, which holds the endpoint to its word."""
    return f"""import unittest

import service


class HealthTest(unittest.TestCase):
    def test_it_is_well(self):
        status, body = service.answer({_quoted(path)})
        self.assertEqual(status, 200)
        self.assertEqual(body["status"], "ok")
"""


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "").replace('"', "") + '"'
