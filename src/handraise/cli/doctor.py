"""`handraise doctor`: what stands in the way of a hub, and what to do."""

import asyncio
import json
import os
import sys
from pathlib import Path

import click
import msgspec

from handraise.cli.client import HubClient, HubError, NoHub
from handraise.cli.places import here, json_option, state_folder, state_option
from handraise.doctor import findings
from handraise.doctor.examine import examine
from handraise.model.projects import Project, innermost


@click.command()
@click.option("--project", metavar="DIR", help="Where to look at the settings; here unless set.")
@state_option
@json_option
def doctor(project: str | None, state: str | None, as_json: bool) -> None:
    """Check the CLI, its login, ports, permissions and disk, and say what to do."""
    directory, folder = Path(project or here()), state_folder(state)
    known = _known(folder, directory)
    report = asyncio.run(examine(os.environ, Path.home(), state=folder, project=directory, known=known))
    click.echo(json.dumps(findings.as_json(report)) if as_json else findings.as_text(report))
    sys.exit(1 if report.verdict == "fail" else 0)


def _known(state: Path, directory: Path) -> Project | None:
    """The project of the directory, where a hub runs that knows one."""
    try:
        told = HubClient(state).get("/api/projects")["projects"]
    except (NoHub, HubError):
        return None
    return innermost(msgspec.convert(told, list[Project]), os.path.realpath(directory))
