"""`handraise completion`: what a shell needs to complete commands and options."""

import click
from click.shell_completion import get_completion_class

_WHERE = {
    "bash": '~/.bashrc:  eval "$(handraise completion bash)"',
    "zsh": '~/.zshrc:  eval "$(handraise completion zsh)"',
    "fish": "~/.config/fish/completions/handraise.fish:  handraise completion fish | source",
}


@click.command(epilog="Put it where your shell starts, such as " + "; ".join(_WHERE.values()))
@click.argument("shell", type=click.Choice(list(_WHERE)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion for bash, zsh or fish.

    \b
    eval "$(handraise completion bash)"
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    click.echo(kind(ctx.find_root().command, {}, "handraise", "_HANDRAISE_COMPLETE").source())
