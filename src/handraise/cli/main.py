"""The commands, put together; and how a mistake is told."""

import json
import sys
from typing import Any

import click

from handraise.cli.neighbour import Failed, NoHub
from handraise.cli.projects import project
from handraise.cli.ps import ps
from handraise.cli.relaying import mcp
from handraise.cli.serve import demo, serve
from handraise.cli.staying import attach, inbox, run
from handraise.cli.steer import answer, interrupt, mode, say, stop
from handraise.cli.tokens import token

WRONG, NO_HUB, REFUSED = 2, 3, 4


class Told(click.Group):
    """Says a refusal as a sentence and an exit code: 3 no hub, 4 refused, 1 anything else that failed."""

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


for command in (serve, demo, run, attach, inbox, ps, say, interrupt, stop, mode, answer, token, project, mcp):
    main.add_command(command)


def _fail(sentence: str, code: int) -> None:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": sentence}))
    else:
        click.echo(f"handraise: {sentence}", err=True)
    sys.exit(code)
