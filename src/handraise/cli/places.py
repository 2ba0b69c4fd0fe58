"""Where things are on this machine, as options of commands."""

import click

from handraise.cli.folder import state_folder

__all__ = ["json_option", "state_folder", "state_option"]

state_option = click.option(
    "--state", metavar="DIR", help="The hub's folder; $HANDRAISE_STATE, or the platform's place for state."
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
