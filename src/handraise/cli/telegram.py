"""`handraise telegram`: connects a bot, tries it out and shows its status."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handraise.cli.places import json_option, state_folder, state_option

if TYPE_CHECKING:
    from handraise.client.telegram import TelegramApi
    from handraise.config.telegram import TelegramSettings

api_option = click.option("--api", metavar="URL", help="Your own Bot API server (default: [telegram] api).")


@click.group()
def telegram() -> None:
    """Connect a Telegram bot, send a test message, and show its status."""


@telegram.command()
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A file with the token that only you can read (default: ask, or read stdin).",
)
@api_option
@click.option(
    "--role",
    type=click.Choice(["viewer", "approver", "admin"]),
    help="Role of the person who sends the code: viewer, approver (default) or admin (can also start sessions).",
)
@click.option("-p", "--project", metavar="NAME", help="Send only this project's requests to the chat or topic.")
@click.option("-y", "--yes", is_flag=True, help="Add the person who sends the code without asking.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=600, help="Seconds to wait for the code (default: 600)."
)
@state_option
def setup(
    token_file: Path | None,
    api: str | None,
    role: str | None,
    project: str | None,
    yes: bool,
    timeout: float,
    state: str | None,
) -> None:
    """Connect a bot, or add a person, a chat or a topic to it.

    \b
    handraise telegram setup                  the first time, and for each person or chat
    handraise telegram setup --project shop   a topic for one project
    """
    from handraise.cli.telegram_settings import WrittenTelegram
    from handraise.cli.telegram_setup import SetupWishes, TelegramSetup
    from handraise.config.tables import SettingsRefused

    wishes = SetupWishes(state_folder(state), _address(api), token_file, role, project, yes, timeout)
    try:
        if project is not None:
            _check_project(wishes.state, project)
        TelegramSetup(wishes, WrittenTelegram(os.environ)).run()
    except SettingsRefused as error:
        raise click.ClickException(str(error)) from error


@telegram.command()
@api_option
def test(api: str | None) -> None:
    """Send a test message to every chat."""
    from handraise.cli.telegram_setup import send_text
    from handraise.client.telegram import TelegramError
    from handraise.doctor.telegram import trouble
    from handraise.texts import t

    settings, bot = _bot(api)
    failed = 0
    for chat, topic in settings.destinations:
        written = chat if topic is None else f"{chat}:{topic}"
        try:
            send_text(bot, chat, topic, t("telegram.setup.test"))
            click.echo(f"{written}  sent")
        except TelegramError as error:
            failed += 1
            click.echo(f"{written}  {' '.join(trouble(error, api or settings.api, chat=chat))}", err=True)
    sys.exit(1 if failed else 0)


@telegram.command()
@api_option
@state_option
@json_option
def status(api: str | None, state: str | None, as_json: bool) -> None:
    """Show the bot, its people and its chats, and what is wrong with them."""
    from msgspec.structs import replace

    from handraise.doctor.telegram import check_telegram

    settings, bot = _bot(api)
    findings = check_telegram(replace(settings, api=api or settings.api), "", bot)
    running = _running(state_folder(state))
    members = [
        {"number": each, "name": settings.name_of(each), "role": settings.role_of(each)}
        for each in settings.member_numbers
    ]
    if as_json:
        shown = [{"verdict": each.verdict, "sentence": each.sentence, "advice": each.advice} for each in findings]
        click.echo(json.dumps({"findings": shown, "members": members, "hub": running}))
    else:
        for finding in findings:
            click.echo(f"{finding.verdict:<4}  {finding.sentence}")
            if finding.advice:
                click.echo(f"      → {finding.advice}")
        for member in members:
            click.echo(f"user  {_called(str(member['name']), str(member['number']))}, {member['role']}")
        click.echo(f"hub   {_hub_sentence(running)}")
    sys.exit(1 if any(each.verdict == "fail" for each in findings) else 0)


def _bot(api: str | None) -> "tuple[TelegramSettings, TelegramApi]":
    """The settings and a client for the bot; raises ClickException if there is none."""
    from handraise import texts
    from handraise.client.telegram import TelegramApi
    from handraise.config.files import bot_token, load_layers
    from handraise.config.reading import read_layers
    from handraise.config.tables import SettingsRefused

    try:
        settings = read_layers(load_layers(os.environ))
        token = bot_token(settings.telegram, os.environ)
    except SettingsRefused as error:
        raise click.ClickException(str(error)) from error
    if token is None:
        raise click.ClickException("There is no bot yet. Run: handraise telegram setup")
    texts.use(settings.language)
    return settings.telegram, TelegramApi(token, _address(api) or settings.telegram.api)


def _check_project(state: Path, name: str) -> None:
    """Raises ClickException if there is no such project."""
    from handraise.cli.known_projects import known_projects
    from handraise.store.interface import StoreError

    try:
        names = known_projects(state, os.environ)
    except StoreError as error:
        raise click.ClickException(str(error)) from error
    if name in names:
        return
    if names:
        raise click.ClickException(f"Unknown project: {name}. Projects: {', '.join(names)}.")
    raise click.ClickException(
        f"Unknown project: {name}. There are no projects yet. Start the hub and add one: handraise project add"
        " DIRECTORY"
    )


def _address(api: str | None) -> str | None:
    if api is not None and not api.startswith(("http://", "https://")):
        raise click.UsageError(f"--api needs a URL, for example https://{api}.")
    return api


def _called(name: str, number: str) -> str:
    return name if name == number else f"{name} ({number})"


def _running(state: Path) -> dict[str, Any] | None:
    """What the running hub says of its bot."""
    from handraise.cli.client import HubClient, HubError, NoHub

    try:
        found: dict[str, Any] = HubClient(state).get("/api/telegram")
    except (NoHub, HubError):
        return None
    return found


def _hub_sentence(running: dict[str, Any] | None) -> str:
    if running is None:
        return "No hub is running. Start one with: handraise serve"
    if running["trouble"]:
        return f"The running hub: {running['trouble']}"
    if not running["enabled"]:
        return "The running hub doesn't use the bot yet. Restart it. Sessions keep running."
    if running.get("is_elsewhere"):
        return "Another hub with the same database runs the bot. This one takes over if that one stops."
    return f"The running hub is connected as @{running['bot']}." if running["bot"] else "The running hub is connecting."
