"""The commands, put together; and how a mistake is told. Each command's module is imported when it is called."""

import importlib
import json
import sys
from typing import Any

import click

from handraise.cli.neighbour import Failed, NoHub

WRONG, NO_HUB, REFUSED = 2, 3, 4
# In the order in which they are listed: the command, and the module of handraise.cli that it is in.
COMMANDS = {
    "serve": "serve",
    "demo": "serve",
    "run": "staying",
    "attach": "staying",
    "inbox": "staying",
    "ps": "ps",
    "say": "steer",
    "interrupt": "steer",
    "stop": "steer",
    "mode": "steer",
    "answer": "steer",
    "token": "tokens",
    "audit": "audit",
    "project": "projects",
    "rules": "rules",
    "doctor": "doctor",
    "replay": "replay",
    "mcp": "relaying",
    "completion": "completion",
}


class Told(click.Group):
    """Says a refusal as a sentence and an exit code: 3 no hub, 4 refused, 1 anything else that failed."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = getattr(importlib.import_module(f"handraise.cli.{COMMANDS[name]}"), name)
        return found

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 (click's own)
        try:
            return super().invoke(ctx)
        except NoHub as error:
            _fail(str(error), NO_HUB)
        except Failed as error:
            _fail(str(error), REFUSED if error.status in (401, 403, 409, 410) else 1)


@click.group(cls=Told)
@click.version_option(package_name="handraise")
def main() -> None:
    """Claude Code raises its hand; you answer from anywhere."""


def _fail(sentence: str, code: int) -> None:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": sentence}))
    else:
        click.echo(f"handraise: {sentence}", err=True)
    sys.exit(code)
