"""`handraise service`: the hub as a service of this user that starts by itself, with systemd or launchd."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import click

from handraise.cli.client import HubClient, HubError
from handraise.cli.places import confirm, state_folder, state_option, yes_option

NAME = "handraise"
_LABEL = "dev.handraise.hub"


@click.group()
def service() -> None:
    """Run the hub as a service that starts by itself: systemd or launchd.

    \b
    handraise service install
    handraise service install --print
    handraise service uninstall
    """


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Print the file, and change nothing.")
@click.option("--no-start", is_flag=True, help="Write the file, but don't start the service.")
@click.option("--kind", type=click.Choice(["systemd", "launchd"]), help="Default: what this system has.")
@yes_option
@state_option
def install(only_print: bool, no_start: bool, kind: str | None, yes: bool, state: str | None) -> None:
    """Write the service's file, show it, and start the service.

    Sessions keep running when the service stops or restarts: only the hub's own process is ended.
    """
    kind = kind or ("launchd" if sys.platform == "darwin" else "systemd")
    folder = state_folder(state).absolute()
    file, text = (_plist_file(), plist(folder)) if kind == "launchd" else (_unit_file(), unit(folder))
    if only_print:
        click.echo(text, nl=False)
        return
    if file.exists() and file.read_text(errors="replace") != text:
        confirm(f"{file} exists and differs. Replace it?", yes=yes)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    click.echo(f"Wrote {file}:\n")
    click.echo("".join(f"    {row}\n" for row in text.splitlines()))
    commands = _starting(kind, file)
    if no_start or shutil.which(commands[0][0]) is None:
        _advise("Start it with:", commands)
        return
    if HubClient(folder).is_there():
        _advise(
            "A hub is running already, so the service wasn't started. Stop it first:",
            [["handraise", "hub", "stop", *(["--state", state] if state else [])], *commands],
        )
        return
    _perform(commands)
    click.echo("The service is running. It starts by itself when you sign in.")
    if kind == "systemd":
        click.echo("To keep it running while you are signed out: loginctl enable-linger")


@service.command()
@yes_option
def uninstall(yes: bool) -> None:
    """Stop the service and remove its file. Sessions keep running; nothing else is removed."""
    found = [(kind, file) for kind, file in (("systemd", _unit_file()), ("launchd", _plist_file())) if file.exists()]
    if not found:
        raise HubError(404, "not_found", "There is no service. Install it with: handraise service install")
    for kind, file in found:
        confirm(f"Stop the service and remove {file}?", yes=yes)
        commands = _stopping(kind, file)
        if shutil.which(commands[0][0]) is not None:
            _perform(commands)
        file.unlink()
        click.echo(f"Removed {file}.")


def unit(state: Path) -> str:
    """The unit for systemd. `KillMode=process`: sessions outlive the hub, and the next hub reattaches them."""
    command = " ".join(_quoted(each).replace("$", "$$") for each in _command(state))
    return f"""[Unit]
Description=Handraise hub
After=network-online.target

[Service]
ExecStart={command}
Environment={_quoted(f"PATH={_path()}")}
KillMode=process
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
"""


def plist(state: Path) -> str:
    """The same for launchd. `AbandonProcessGroup`: sessions outlive the hub."""
    words = "\n".join(f"    <string>{escape(each)}</string>" for each in _command(state))
    log = escape(str(state / "hub.log"))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>{escape(_path())}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardOutPath</key>
  <string>{log}</string>
  <key>StandardErrorPath</key>
  <string>{log}</string>
</dict>
</plist>
"""


def _command(state: Path) -> list[str]:
    return [sys.executable, "-m", "handraise", "serve", "--no-link", "--state", str(state)]


def _path() -> str:
    """Where Claude Code and git are found: a service has hardly any PATH of its own."""
    return os.environ.get("PATH", os.defpath)


def _quoted(word: str) -> str:
    """As systemd reads a word: in quotes, with its own specifiers taken literally."""
    for letter, instead in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        word = word.replace(letter, instead)
    return f'"{word}"'


def _unit_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".config"
    return folder / "systemd" / "user" / f"{NAME}.service"


def _plist_file() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"


def _starting(kind: str, file: Path) -> list[list[str]]:
    if kind == "launchd":
        return [["launchctl", "bootstrap", f"gui/{os.getuid()}", str(file)]]
    return [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", "--now", NAME]]


def _stopping(kind: str, file: Path) -> list[list[str]]:
    if kind == "launchd":
        return [["launchctl", "bootout", f"gui/{os.getuid()}", str(file)]]
    return [["systemctl", "--user", "disable", "--now", NAME]]


def _advise(sentence: str, commands: list[list[str]]) -> None:
    click.echo(sentence)
    for command in commands:
        click.echo(f"  {shlex.join(command)}")


def _perform(commands: list[list[str]]) -> None:
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit code {done.returncode}"]
            raise HubError(400, "service", f"`{' '.join(command)}` failed: {reason[-1]}")
