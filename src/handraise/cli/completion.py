"""`handraise completion`: what a shell needs to complete commands, options, sessions and asks."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_ZSH_FIRST = "#compdef handraise\n"
# `compdef` is there only after zsh's completion was set up, which a short ~/.zshrc does not do.
_ZSH = f"{_ZSH_FIRST}(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}\n"
# Of click's own script for fish: a description with a comma in it would be cut there.
_FISH_SPLITS, _FISH_SPLITS_ONCE = 'string split ","', 'string split -m 1 ","'


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print the completion for bash, zsh or fish; for $SHELL unless named.

    Put it where your shell starts:

    \b
    ~/.bashrc                    eval "$(handraise completion bash)"
    ~/.zshrc                     eval "$(handraise completion zsh)"
    ~/.config/fish/config.fish   handraise completion fish | source
    """
    named = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(named) if named in _SHELLS else None
    if kind is None:
        raise click.UsageError("Name the shell: handraise completion bash, zsh or fish.")
    source = kind(ctx.find_root().command, {}, "handraise", "_HANDRAISE_COMPLETE").source()
    click.echo(source.replace(_ZSH_FIRST, _ZSH).replace(_FISH_SPLITS, _FISH_SPLITS_ONCE))
