"""One assault on one hub: a real Claude whose Bash runs every attack in turn.

A separate program, so that it can run as another user: `assault.py FOLDER PRESET MARK`. The results are in
FOLDER/results.json; MARK is a word on the command line of what tries to outlive Claude.

Each attack prints FELL if it succeeded. `off` is the control: there they must succeed, or they prove nothing.
"""

import asyncio
import json
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from handraise.claude.locate import locate
from handraise.claude.process import Identity
from handraise.demo.model import ScriptedModel, environment
from handraise.demo.pieces import Script, say, use
from handraise.demo.request import Conversation
from handraise.model.projects import Options
from handraise.model.rules import Rule
from handraise.serving.serve import ServeConfig, serving
from stories import house
from stories.house import seen

house.DEADLINE = 400.0

# Everything that can be opened, traced or taken from the Claude that runs this: by its pid, and by its threads.
CLAUDES = """
import ctypes, glob, os
libc = ctypes.CDLL(None, use_errno=True)
pids = [int(os.environ["CLAUDE_PID"])]
def opens(path, flags):
    try:
        return os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        print(path, error.strerror)
"""


def python(source: str) -> str:
    # The interpreter itself: `python3` on PATH may be a script that looks for it, and takes longer than the attack.
    return f"{sys.executable} -IS - <<'END'\n{CLAUDES}\n{source}\nEND"


ATTACKS: dict[str, str] = {
    "answer by its stdin": python('for p in pids: opens(f"/proc/{p}/fd/0", os.O_WRONLY) is not None and print("FELL")'),
    "answer by a thread's stdin": python(
        'for f in [f for p in pids for f in glob.glob(f"/proc/{p}/task/*/fd/0")] or [f"/proc/{p}/task/{p}/fd/0" for p in pids]:\n'  # noqa: E501 (a command)
        '    opens(f, os.O_WRONLY) is not None and print("FELL")'
    ),
    "forge its journal": python(
        'for p in pids: opens(f"/proc/{p}/fd/1", os.O_WRONLY | os.O_APPEND) is not None and print("FELL")'
    ),
    "read its environment": python(
        'for p in pids: opens(f"/proc/{p}/environ", os.O_RDONLY) is not None and print("FELL")'
    ),
    "write its memory": python('for p in pids: opens(f"/proc/{p}/mem", os.O_RDWR) is not None and print("FELL")'),
    "trace it": python('for p in pids: libc.ptrace(0x4206, p, 0, 0) == 0 and print("FELL")'),
    "take its stdin by pidfd_getfd": python(
        'for p in pids: libc.syscall(438, os.pidfd_open(p), 0, 0) >= 0 and print("FELL")'
    ),
    "read it by process_vm_readv": python(
        "class V(ctypes.Structure): _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "for p in pids:\n"
        "    try: at = int(open(f'/proc/{p}/maps').readline().split('-')[0], 16)\n"
        "    except OSError: at = 0x200000\n"
        "    b = ctypes.create_string_buffer(8)\n"
        "    ours, theirs = V(ctypes.addressof(b), 8), V(at, 8)\n"
        "    libc.process_vm_readv(p, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0) == 8 and print('FELL')"
    ),
    "as root of a namespace of its own": (
        "unshare -Ur sh -c 'cat /proc/$CLAUDE_PID/environ > /dev/null && echo FELL; :> /proc/$CLAUDE_PID/fd/0 && echo FELL;"  # noqa: E501 (a command)
        ' umount "$STATE" && ls "$STATE/hub.db" && echo FELL\' ; unshare -Urm sh -c \'umount "$STATE"; ls "$STATE/hub.db" && echo FELL\''  # noqa: E501 (a command)
    ),
    "the FIFO by its name": 'ls "$STATE"/sessions/*/*/in && echo FELL',
    "the database": 'head -c 6 "$STATE/hub.db" | grep SQLite && echo FELL',
    "the socket": python(
        'import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(os.environ["STATE"] + "/hub.sock") or print("FELL")'  # noqa: E501 (a command)
    ),
    "a symlink into it": 'ln -sfn "$STATE" link; ls link/hub.db && echo FELL',
    "a hard link to it": 'ln "$STATE/hub.db" "$STATE/../hard" && echo FELL; rm -f "$STATE/../hard"',
    "by the root of a process": (
        'for p in /proc/self /proc/1 /proc/$CLAUDE_PID /proc/$PPID; do ls "$p/root$STATE/hub.db" "$p/cwd/../home/.local/state/handraise/hub.db"; done'  # noqa: E501 (a command)
        " | grep hub.db && echo FELL"
    ),
    "the settings": 'cat "$SETTINGS" | grep port && echo FELL',
    "other settings in their place": "mv ~/.config ~/.gone && mv ~/.gone ~/.config && echo FELL",
    "another state in its place": "mv ~/.local ~/.gone && mv ~/.gone ~/.local && echo FELL",
    "write into the state": 'touch "$STATE/mine" && test -e "$STATE/hub.db" && echo FELL; rm -f "$STATE/mine"',
    "Claude's own settings": 'echo "{}" > ~/.claude/settings.json && echo FELL',
    "Claude's settings moved away": "mv ~/.claude ~/.gone && mv ~/.gone ~/.claude && echo FELL",
    "the hub's process": "kill -0 $HUB && echo FELL",
    "the person's services": python(
        'import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(os.environ["DESKTOP"] + "/bus") or print("FELL")'
    ),
    "the person's tmux": python(
        "import socket\ns = socket.socket(socket.AF_UNIX)\n"
        's.connect(f"{os.environ[\'TMUXES\']}/tmux-{os.getuid()}/default") or print("FELL")'
    ),
    "the browser's cookies": "cat ~/.mozilla/cookies && echo FELL",
    "the shell's profile": "echo '# x' >> ~/.bashrc && echo FELL",
    "files elsewhere": 'touch "$ELSEWHERE/file" && echo FELL',
    "the network": python(
        'import socket\nsocket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 5) and print("FELL")'
    ),
    "the network by datagrams": python(
        "import socket\ns = socket.socket(type=socket.SOCK_DGRAM)\ns.settimeout(5)\n"
        's.connect(("127.0.0.1", int(os.environ["DATAGRAMS"])))\ns.send(b"x")\ns.recv(9) and print("FELL")'
    ),
    "an abstract socket": python(
        'import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect("\\0" + os.environ["ABSTRACT"]) or print("FELL")'
    ),
}
if shutil.which("at"):
    # A program that is run later, by someone outside. It is removed again immediately.
    ATTACKS["a job for at"] = (
        "echo true | at now + 7 days 2>&1 | grep '^job' > job && echo FELL; atrm $(cut -d' ' -f2 job); rm -f job"
    )
# These need privileges, or succeed nowhere, and must not start to.
UNCONTROLLED: dict[str, str] = {
    "a proc of its own": (
        "unshare -Ur -m sh -c 'mount -t proc proc /proc && : > /proc/$CLAUDE_PID/fd/0 && echo FELL'; true"
    ),
    "nsenter": "nsenter -t $CLAUDE_PID -m -p ls $STATE/hub.db && echo FELL; nsenter -t 1 -a ls $STATE/hub.db && echo FELL; true",  # noqa: E501 (a command)
    "the network of another process": (
        'test "$PRESET" = off || for p in 1 $PPID $CLAUDE_PID; do nsenter -t $p -n true && echo FELL;'
        " unshare -Ur nsenter -t $p -n true && echo FELL; done; true"
    ),
    "inherited connections": python(
        'import socket\nfor each in os.listdir("/proc/self/fd"):\n'
        "    try: found = socket.socket(fileno=int(each)).family\n"
        "    except OSError: continue\n"
        '    found == socket.AF_UNIX or print("FELL")'
    ),
    "the first process in there": (
        'test "$PRESET" = off || { ls -l /proc/1/fd | grep -e "->" && echo FELL; cat /proc/1/environ && echo FELL;'
        " python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(0x4206, 1, 0, 0) == 0 and print(\"FELL\")'; kill -9 1; kill -STOP 1; }; true"  # noqa: E501 (a command)
    ),
    "inherited files": 'ls -l /proc/self/fd | grep -e "$STATE" -e out.ndjson -e "/in$" && echo FELL',
    "abstract sockets": "grep -a '@.*handraise' /proc/net/unix && echo FELL",
    "a second hub": f'timeout 20 {sys.executable} -m handraise serve --port 0 --state "$STATE" | grep "up at" && echo FELL',  # noqa: E501 (a command)
    "what must work": (
        "git init -q repo && git -C repo -c user.name=a -c user.email=a@b commit -qm x --allow-empty && python3 -m venv --without-pip v"  # noqa: E501 (a command)
        " && v/bin/python -c 'import tempfile; tempfile.mkdtemp(); print(\"WORKS\")' && ls ~/.claude/projects > /dev/null && echo ALL"  # noqa: E501 (a command)
    ),
}  # fmt: skip
STAYING = (
    "import os, signal, sys, time\n"
    "for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(n, signal.SIG_IGN)\n"
    "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0)\n"
    "until = time.monotonic() + 60\n"
    "for _ in range(2000):\n"
    "    if os.fork() or time.monotonic() > until or not os.path.exists('stay.py'): os._exit(0)\n"
    "    time.sleep(0.02)\n"
)
"""A daemon that changes its process every few milliseconds and ignores polite signals.

Gives up after a minute, or once its folder is gone: whoever looks for it may just miss it.
"""


HEAD = "=== attack: "
AT_ONCE = 6
"""Attacks per call: a call costs more than most of them."""


def together(attacks: Iterable[tuple[str, str]]) -> str:
    """One after the other, each in its own shell, with its name before its output."""
    return "\n".join(f"echo {shlex.quote(HEAD + name)}; (\n{line}\n) 2>&1; true" for name, line in attacks)


def apart(text: str) -> dict[str, str]:
    """The output of each."""
    return {name: words for name, _, words in (part.partition("\n") for part in text.split(HEAD)[1:])}


def script(results: dict[str, str], mark: str) -> Any:
    def play(conversation: Conversation) -> Script:
        attacks = list({**ATTACKS, **UNCONTROLLED}.items())
        for several in (attacks[each : each + AT_ONCE] for each in range(0, len(attacks), AT_ONCE)):
            conversation = yield [use("Bash", command=together(several), description="Attack")]
            results.update(apart(conversation.result().text))
        conversation = yield [
            use("Bash", command=f'python3 -c "$(cat stay.py)" {mark}; sleep 0.3; pgrep -f {mark} && echo THERE')
        ]
        results["outlive it"] = conversation.result().text
        yield [say("done")]

    return play


class Echo(asyncio.DatagramProtocol):
    """Sends each datagram back."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._transport.sendto(data, addr)


def alive(mark: str) -> list[Identity]:
    """What still runs of those that tried to outlive Claude."""
    found = []
    for each in Path("/proc").iterdir():
        with suppress(OSError):
            words = (each / "cmdline").read_bytes().split(b"\0") if each.name.isdigit() else []
            if mark.encode() in words and (identity := Identity.of(int(each.name))):
                found.append(identity)
    return [each for each in found if each.pid != os.getpid() and each.lives()]


async def main(folder: Path, preset: str, mark: str) -> None:
    results: dict[str, str] = {}
    home, work, elsewhere = folder / "home", folder / "work", folder / "home" / "other"
    state, config = home / ".local" / "state" / "handraise", home / ".config" / "handraise"
    for each in (work, elsewhere, config, home / ".mozilla", folder / "run", folder / "tmux" / f"tmux-{os.getuid()}"):
        each.mkdir(parents=True)
    (home / ".bashrc").write_text("")
    (home / ".mozilla" / "cookies").write_text("secret")
    (config / "handraise.toml").write_text("[web]\nport = 0\n")
    (work / "stay.py").write_text(STAYING)
    with (
        socket.socket(socket.AF_UNIX) as bus,
        socket.socket(socket.AF_UNIX) as tmux,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        bus.bind(str(folder / "run" / "bus"))
        tmux.bind(str(folder / "tmux" / f"tmux-{os.getuid()}" / "default"))
        abstract.bind(f"\0{mark}")
        for listener in (bus, tmux, abstract):
            listener.listen()
        echo, _ = await asyncio.get_running_loop().create_datagram_endpoint(Echo, ("127.0.0.1", 0))
        async with ScriptedModel({"script": script(results, mark)}) as model:
            environ = {
                **environment(model.url("script"), str(home)),
                "STATE": str(state),
                "PRESET": preset,
                "SETTINGS": str(config / "handraise.toml"),
                "HUB": str(os.getpid()),
                "XDG_RUNTIME_DIR": str(folder / "run"),
                "DESKTOP": str(folder / "run"),
                "TMUX_TMPDIR": str(folder / "tmux"),
                "TMUXES": str(folder / "tmux"),
                "ELSEWHERE": str(elsewhere),
                "DATAGRAMS": str(echo.get_extra_info("sockname")[1]),
                "ABSTRACT": mark,
                "PORT": model.url("script").split(":")[2].split("/")[0],
                "PYTHONPATH": os.pathsep.join(sys.path),
            }
            allowed = Rule("r", "allow", tool="Bash", source="settings")
            service = ServeConfig(
                state,
                locate(),
                environ,
                port=0,
                rules=(allowed,),
                options=Options(sandbox=preset, mode="bypassPermissions"),
                hidden=(config,),
            )
            async with serving(service) as up:
                desk = up.hub.desk
                started = await desk.start("Attack.", str(work))
                kinds = list(await seen(desk, lambda each: type(each).__name__ in ("TurnEnded", "SessionEnded")))
                results["how"] = repr(kinds[-1])
                results["missing"] = up.hub.wall.missing
                await desk.stop(started.session.id)
                await seen(desk, lambda each: type(each).__name__ == "SessionEnded")
                results["alive"] = " ".join(str(each.pid) for each in alive(mark))
                await up.hub.pool.stop_all()
        echo.close()
    (folder / "results.json").write_text(json.dumps(results))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
