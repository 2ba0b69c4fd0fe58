"""What people send the bot, after it was checked who they are. Pure."""

from datetime import datetime

from msgspec import Struct

from handraise.surfaces.telegram.outgoing import ChatPlace


class IncomingFile(Struct, frozen=True):
    """A file or a photo in a message. `file` is Telegram's own id, to download it by."""

    file: str
    name: str = ""
    media_type: str = ""
    size: int = 0
    photo: bool = False


class IncomingMessage(Struct, frozen=True):
    """A message of a member. `text` is the caption if there are files."""

    update: int
    """Telegram's number of the update: unique, and the same if it is delivered twice."""
    number: int
    """The message's own number in its chat."""
    place: ChatPlace
    at: datetime
    text: str = ""
    files: tuple[IncomingFile, ...] = ()
    reply_to: int | None = None
    album: str = ""
    """The same for all messages of one album."""
    private: bool = False
    forum: bool = False
    """Whether the chat can have topics."""


class IncomingPress(Struct, frozen=True):
    """A press on a button that isn't a card's. `act` and `argument` are what the button was bound to."""

    update: int
    place: ChatPlace
    message: int
    act: str
    argument: str
