"""What can be sent to Telegram. Pure."""

from msgspec import Struct

from handraise.surfaces.telegram.formatted import Formatted


class ChatPlace(Struct, frozen=True, order=True):
    """A chat, or one of its topics."""

    chat: int
    topic: int | None = None


class Button(Struct, frozen=True):
    """A button below a message. It sends `data` back, or opens `url`."""

    label: str
    data: str = ""
    url: str = ""


Keyboard = tuple[tuple[Button, ...], ...]


class SendText(Struct, frozen=True):
    """A new message."""

    place: ChatPlace
    content: Formatted
    keyboard: Keyboard = ()
    reply_to: int | None = None
    silent: bool = False


class EditText(Struct, frozen=True):
    """A message that changes; without a keyboard, its buttons go."""

    place: ChatPlace
    message: int
    content: Formatted
    keyboard: Keyboard = ()


class RemoveButtons(Struct, frozen=True):
    """A message that keeps its text and loses its buttons."""

    place: ChatPlace
    message: int


class SendFile(Struct, frozen=True):
    """A file or a photo."""

    place: ChatPlace
    name: str
    data: bytes
    caption: Formatted = Formatted("")
    photo: bool = False
    reply_to: int | None = None
    silent: bool = False


class SendDraft(Struct, frozen=True):
    """Text that is still being written, in a private chat."""

    place: ChatPlace
    draft: int
    content: Formatted
    can_stop: bool = False


class DeleteMessage(Struct, frozen=True):
    """A message that goes away."""

    place: ChatPlace
    message: int


class CreateTopic(Struct, frozen=True):
    """A new topic in a forum."""

    place: ChatPlace
    name: str


class RenameTopic(Struct, frozen=True):
    """A topic that gets another name."""

    place: ChatPlace
    name: str


class CloseTopic(Struct, frozen=True):
    """A topic in which only admins can write from here on."""

    place: ChatPlace


class ReopenTopic(Struct, frozen=True):
    """A closed topic that everyone can write in again."""

    place: ChatPlace


Outgoing = (
    SendText
    | EditText
    | RemoveButtons
    | SendFile
    | SendDraft
    | DeleteMessage
    | CreateTopic
    | RenameTopic
    | CloseTopic
    | ReopenTopic
)


class Sent(Struct, frozen=True):
    """It arrived. `message` is its number; `topic` that of a new topic."""

    message: int = 0
    topic: int | None = None


class Gone(Struct, frozen=True):
    """The message no longer exists."""


class Blocked(Struct, frozen=True):
    """The bot can't write there: blocked, removed, or the chat is gone. `reason` is Telegram's own."""

    reason: str


class Migrated(Struct, frozen=True):
    """The group has a new number; nothing was sent."""

    chat: int


class Doubtful(Struct, frozen=True):
    """It may have arrived: the connection broke after it was sent."""


class Undeliverable(Struct, frozen=True):
    """Telegram refused it, also as plain text. `reason` is Telegram's own."""

    reason: str


SendResult = Sent | Gone | Blocked | Migrated | Doubtful | Undeliverable
