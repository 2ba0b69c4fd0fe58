"""Start time and size of `handraise mcp` against the same server written with the Node SDK, in one run.

Start is from `exec` to the reply to `initialize`; size is the process's resident memory then, including shared pages.
The Node SDK is installed into a temporary folder.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures

RUNS = 15
GOAL = 5.0
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
_NODE = """
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "ask-user", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: [{ name: "ask_user", description: "Ask the user", inputSchema: { type: "object", properties: {} } }],
}));
server.setRequestHandler(CallToolRequestSchema, async () => ({ content: [{ type: "text", text: "nobody" }] }));
await server.connect(new StdioServerTransport());
"""
_HUB = """
import asyncio, sys
from pathlib import Path
from handraise.serving.serve import ServeConfig, serving

async def main():
    async with serving(ServeConfig(Path(sys.argv[1]), Path("/bin/false"), {}, port=0)):
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def measure(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds until it has answered, and its MB then."""
    began = time.perf_counter()
    server = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(_HELLO).encode() + b"\n")
    server.stdin.flush()
    assert b'"serverInfo"' in server.stdout.readline()
    took = time.perf_counter() - began
    held = size(server.pid)
    server.stdin.close()
    server.wait()
    server.stdout.close()
    return took, held


def size(pid: int) -> float:
    """A process's memory in MB, including shared pages."""
    text = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(text.stdout) / 1024


def node_server(folder: Path) -> list[str]:
    """The same server, written with the Node SDK."""
    npm = [shutil.which("npm") or "npm", "install", "--silent", "--no-audit", "--no-fund"]
    subprocess.run([*npm, "@modelcontextprotocol/sdk"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / "server.mjs").write_text(_NODE)
    return [shutil.which("node") or "node", "server.mjs"]


def our_relay(state: Path) -> list[str]:
    """As installed: the console script next to this interpreter."""
    return [os.path.join(os.path.dirname(sys.executable), "handraise"), "mcp", "--state", str(state)]


def main() -> None:
    if shutil.which("npm") is None:
        print("bench_relay: there is no npm here, so that there is nothing to compare with")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        hub = subprocess.Popen([sys.executable, "-c", _HUB, str(folder / "state")], stdout=subprocess.PIPE)
        try:
            assert hub.stdout is not None
            hub.stdout.readline()
            compare(our_relay(folder / "state"), node_server(folder), folder)
        except subprocess.CalledProcessError:
            print("bench_relay: the Node SDK cannot be installed here, so that there is nothing to compare with")
        finally:
            hub.kill()
            hub.wait()


def compare(ours: list[str], theirs: list[str], folder: Path) -> None:
    """Alternating, so that other load affects both."""
    measure(ours, folder)
    measure(theirs, folder)
    relay, node = [], []
    for _ in range(RUNS):
        relay.append(measure(ours, folder))
        node.append(measure(theirs, folder))
    for number, what, unit, factor in ((0, "start", "ms", 1000.0), (1, "size", "MB", 1.0)):
        mine = statistics.median(each[number] for each in relay) * factor
        other = statistics.median(each[number] for each in node) * factor
        ratio = other / mine
        verdict = "holds" if ratio >= GOAL else "MISSED"
        figures.report(f"{what}, times as good as Node's", ratio, "higher")
        print(
            f"relay {what}: {mine:6.1f} {unit}   node {other:6.1f} {unit}   {ratio:4.1f} × (goal {GOAL:g} ×: {verdict})"
        )


if __name__ == "__main__":
    main()
