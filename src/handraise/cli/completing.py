"""What a shell completes besides commands and options: sessions, asks and projects of the hub that runs here."""

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from handraise.cli.neighbour import HubClient, HubError, NoHub
from handraise.cli.places import state_folder
from handraise.cli.table import harmless

Found = Iterable[tuple[str, str]]


class Completes:
    """Of what is found, each with what it is, whatever begins as it was typed; nothing where no hub answers."""

    def __init__(self, look: Callable[[HubClient], Found]) -> None:
        self._look = look

    def __call__(self, ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        try:
            found = list(self._look(HubClient(state_folder(ctx.params.get("state")))))
        except (NoHub, HubError):
            return []
        return [CompletionItem(name, help=harmless(says)) for name, says in found if name.startswith(begun)]


def _sessions(client: HubClient) -> Found:
    return ((each["id"], f"{each['state']}: {each['title']}") for each in client.pages("/api/sessions", "sessions"))


def _asks(client: HubClient) -> Found:
    return ((each["id"], _asked(each)) for each in client.pages("/api/asks", "asks", state="open"))


def _projects(client: HubClient) -> Found:
    return ((each["name"], each["path"]) for each in client.get("/api/projects")["projects"])


def _asked(ask: dict[str, Any]) -> str:
    body = ask["body"]
    match ask["kind"]:
        case "question":
            return str(body["questions"][0]["question"])
        case "permission":
            return f"{body['tool']}: {body['input'].get('command') or body['input'].get('file_path') or ''}"
        case kind:
            return str(body.get("message") or kind)


sessions, asks, projects = Completes(_sessions), Completes(_asks), Completes(_projects)
