"""`handraise completion`, and what a shell completes: commands, options, sessions, asks, projects and machines."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem, get_completion_class

from handraise.cli.client import HubClient, HubError, NoHub
from handraise.cli.places import client_of
from handraise.cli.table import harmless

Found = Iterable[tuple[str, str]]

_SHELLS = ("bash", "zsh", "fish")
_ZSH_FIRST = "#compdef handraise\n"
# `compdef` exists only after zsh's completion was set up, which a short ~/.zshrc doesn't do.
_ZSH = f"{_ZSH_FIRST}(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}\n"


class Completes:
    """Completes what was typed with names from the hub, each with a description; nothing if no hub answers."""

    def __init__(self, look: Callable[[HubClient], Found]) -> None:
        self._look = look

    def __call__(self, ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        try:
            found = list(self._look(client_of(ctx.params.get("state"), ctx.params.get("hub"))))
        except (NoHub, HubError, click.UsageError):
            return []
        return [CompletionItem(name, help=harmless(text)) for name, text in found if name.startswith(incomplete)]


def _sessions(client: HubClient) -> Found:
    return ((each["id"], f"{each['state']}: {each['title']}") for each in client.pages("/api/sessions", "sessions"))


def _steerable(client: HubClient) -> Found:
    """Without those that a person runs in a terminal: the hub can't steer them."""
    found = client.pages("/api/sessions", "sessions")
    return ((each["id"], f"{each['state']}: {each['title']}") for each in found if not _is_elsewhere(each))


def _is_elsewhere(session: dict[str, Any]) -> bool:
    return bool(session.get("terminal")) and not session.get("ended")


def _asks(client: HubClient) -> Found:
    return ((each["id"], _asked(each)) for each in client.pages("/api/asks", "asks", state="open"))


def _projects(client: HubClient) -> Found:
    return ((each["name"], each["path"]) for each in client.get("/api/projects")["projects"])


def _machines(client: HubClient) -> Found:
    found = client.get("/api/machines")["machines"]
    return ((each["name"], "away" if each["away_since"] else "online") for each in found)


def _machines_or_any(client: HubClient) -> Found:
    return (*_machines(client), ("any", "the least busy one that has the project"))


def _webhooks(client: HubClient) -> Found:
    return ((each["name"], each["state"]) for each in client.get("/api/webhooks")["webhooks"])


def _asked(ask: dict[str, Any]) -> str:
    body = ask["body"]
    match ask["kind"]:
        case "question":
            return str(body["questions"][0]["question"])
        case "permission":
            return f"{body['tool']}: {body['input'].get('command') or body['input'].get('file_path') or ''}"
        case kind:
            return str(body.get("message") or kind)


def labels(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The options of the question that is being answered."""
    ask = ctx.params.get("ask")
    try:
        client = client_of(ctx.params.get("state"), ctx.params.get("hub"))
        prompts = client.get(f"/api/asks/{quote(ask or '-', safe='')}")["body"].get("questions", [])
    except (NoHub, HubError, click.UsageError):
        return []
    found = [
        (f"{number}={option['label']}" if len(prompts) > 1 else option["label"], option.get("description") or "")
        for number, prompt in enumerate(prompts, 1)
        for option in prompt["options"]
    ]
    return [
        CompletionItem(label, help=harmless(text))
        for label, text in found
        if label.startswith(incomplete) and label.isprintable()
    ]


sessions, steerable = Completes(_sessions), Completes(_steerable)
asks, projects = Completes(_asks), Completes(_projects)
anything = Completes(lambda client: (*_sessions(client), *_asks(client)))
machines, machines_or_any = Completes(_machines), Completes(_machines_or_any)
webhooks = Completes(_webhooks)


# From click's own script for fish: it would cut a description at its first comma.
_FISH_SPLITS, _FISH_SPLITS_ONCE = 'string split ","', 'string split -m 1 ","'


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print the completion script for bash, zsh or fish (default: $SHELL).

    Add it to your shell's startup file:

    \b
    ~/.bashrc                    eval "$(handraise completion bash)"
    ~/.zshrc                     eval "$(handraise completion zsh)"
    ~/.config/fish/config.fish   handraise completion fish | source
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in _SHELLS else None
    if kind is None:
        raise click.UsageError("Which shell? Use bash, zsh or fish: handraise completion bash")
    source = kind(ctx.find_root().command, {}, "handraise", "_HANDRAISE_COMPLETE").source()
    click.echo(source.replace(_ZSH_FIRST, _ZSH).replace(_FISH_SPLITS, _FISH_SPLITS_ONCE))
