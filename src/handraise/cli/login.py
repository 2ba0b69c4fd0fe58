"""`handraise login` and `handraise logout`: which hub commands talk to, and with which token."""

import sys
from urllib.parse import urlsplit

import click

from handraise.cli.client import HubClient, HubError
from handraise.cli.places import piped
from handraise.client.logins import LOCAL, Logins, LoginsUnfit, logins_file, read_logins, spelled, write_logins

_NEARBY = frozenset(("127.0.0.1", "localhost", "::1"))


@click.command()
@click.argument("url", required=False)
@click.option("--no-default", is_flag=True, help="Save the token, but don't make this the hub that commands use.")
def login(url: str | None, no_default: bool) -> None:
    """Sign in to a hub on another machine.

    From then on, commands use that hub. Asks for a token, or reads it from stdin. Create one on the hub's machine
    with: handraise token create NAME

    Without URL, lists where you are signed in. For this machine's own hub, use --hub local, or sign out.

    \b
    handraise login https://hub.example
    handraise login https://hub.example < token.txt
    handraise ps --hub local
    """
    saved = _saved()
    if url is None:
        _list(saved)
        return
    try:
        address = spelled(url)
    except ValueError:
        raise click.UsageError(f"Use a URL, for example https://{url}.") from None
    if is_readable_on_the_way(address):
        click.echo("Warning: without https, others on the network can read the token and your answers.", err=True)
    token = click.prompt("Token", hide_input=True, err=True) if sys.stdin.isatty() else piped()
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise click.UsageError("That isn't a token. Create one with: handraise token create NAME")
    me = _checked(address, token)
    saved.tokens[address] = token
    if not no_default:
        saved.hub = address
    write_logins(saved)
    click.echo(f"Signed in to {address} as {me['name']} ({me['role']}).")
    if not no_default:
        click.echo("Commands now use this hub. For this machine's own hub, use: --hub local")


@click.command()
@click.argument("url", required=False)
@click.option("-a", "--all", "everywhere", is_flag=True, help="Sign out everywhere.")
def logout(url: str | None, everywhere: bool) -> None:
    """Sign out: forget the saved token.

    Commands use this machine's own hub again.
    The token itself stays valid. Revoke it on the hub's machine with: handraise token revoke ID
    """
    saved = _saved()
    if everywhere:
        write_logins(Logins())
        click.echo("Signed out everywhere.")
        return
    address = url.rstrip("/") if url else saved.hub
    if address is None or address not in saved.tokens:
        raise click.UsageError(f"You aren't signed in to {url}." if url else "You aren't signed in anywhere.")
    del saved.tokens[address]
    if saved.hub == address:
        saved.hub = None
    write_logins(saved)
    click.echo(f"Signed out of {address}.")


def is_readable_on_the_way(address: str) -> bool:
    """Whether others on the network could read what is sent there."""
    return address.startswith("http://") and urlsplit(address).hostname not in _NEARBY


def _saved() -> Logins:
    try:
        return read_logins()
    except LoginsUnfit as error:
        raise HubError(400, "logins", str(error)) from error


def _checked(address: str, token: str) -> dict[str, str]:
    """Who the token belongs to; raises NoHub or HubError, and nothing is saved."""
    try:
        me: dict[str, str] = HubClient("", address, token).get("/api/me")
    except HubError as error:
        if error.status == 401:
            raise HubError(
                401,
                error.code,
                f"{address} doesn't accept this token. Create one there with: handraise token create NAME",
            ) from error
        raise
    return me


def _list(saved: Logins) -> None:
    for address in saved.tokens:
        click.echo(f"{address}{' (commands use this hub)' if address == saved.hub else ''}")
    if not saved.tokens:
        click.echo("You aren't signed in anywhere. Commands use this machine's own hub.")
    else:
        click.echo(f"Saved in {logins_file()}. For this machine's own hub, use: --hub {LOCAL}", err=True)
