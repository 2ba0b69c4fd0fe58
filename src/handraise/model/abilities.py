"""What a Claude says that it offers: its slash commands and its models."""

from msgspec import Struct


class SlashCommand(Struct, frozen=True):
    """A command that is sent as `/name`. `hint` says what may follow it."""

    name: str
    description: str = ""
    hint: str = ""


class ModelChoice(Struct, frozen=True):
    """A model that can be chosen: the value to send, its name, what it is for, and the model that it is now."""

    value: str
    name: str = ""
    description: str = ""
    resolved: str = ""


class Abilities(Struct, frozen=True):
    """Of a Claude in one directory, as it said last."""

    commands: tuple[SlashCommand, ...] = ()
    models: tuple[ModelChoice, ...] = ()
