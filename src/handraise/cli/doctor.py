"""`handraise doctor`: checks the setup and says what to fix."""

import asyncio
import json
import os
import sys
from pathlib import Path

import click
import msgspec

from handraise.cli.client import HubClient, HubError, NoHub
from handraise.cli.places import here, json_option, state_folder, state_option
from handraise.doctor.examine import as_json as report_as_json
from handraise.doctor.examine import as_text, examine
from handraise.model.projects import Project, innermost


@click.command()
@click.option(
    "-p", "--project", metavar="DIR", help="Check the settings that apply in this directory (default: the current one)."
)
@state_option
@json_option
def doctor(project: str | None, state: str | None, as_json: bool) -> None:
    """Check the setup: Claude Code, sign-in, port, permissions, disk and more."""
    directory, folder = Path(project or here()), state_folder(state)
    known = _known(folder, directory)
    report = asyncio.run(examine(os.environ, Path.home(), state=folder, project=directory, known=known))
    click.echo(json.dumps(report_as_json(report)) if as_json else as_text(report))
    sys.exit(1 if report.verdict == "fail" else 0)


def _known(state: Path, directory: Path) -> Project | None:
    """The directory's project, if a hub is running and has one."""
    try:
        projects = HubClient(state).get("/api/projects")["projects"]
    except (NoHub, HubError):
        return None
    return innermost(msgspec.convert(projects, list[Project]), os.path.realpath(directory))
