"""`handraise doctor`: what stands in the way of a hub, and what to do."""

import asyncio
import json
import os
import sys
from pathlib import Path

import click

from handraise.cli.places import json_option, state_folder, state_option
from handraise.doctor import findings
from handraise.doctor.examine import examine


@click.command()
@click.option("--project", metavar="DIR", help="Look at this directory's own settings too; the current one unless set.")
@state_option
@json_option
def doctor(project: str | None, state: str | None, as_json: bool) -> None:
    """Check the CLI, its login, ports, permissions and disk, and say what to do."""
    report = asyncio.run(
        examine(os.environ, Path.home(), state=state_folder(state), project=Path(project or os.getcwd()))
    )
    click.echo(json.dumps(findings.as_json(report)) if as_json else findings.as_text(report))
    sys.exit(1 if report.verdict == "fail" else 0)
