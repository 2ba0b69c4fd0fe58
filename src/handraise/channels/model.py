"""What is sent over a channel, and what became of it. Never knows a service, and does no I/O."""

from typing import Literal, Protocol

from msgspec import Struct

ChannelKind = Literal["ntfy", "email", "apprise"]
KINDS: tuple[ChannelKind, ...] = ("ntfy", "email", "apprise")
Urgency = Literal["low", "normal", "high"]


class ChannelButton(Struct, frozen=True):
    """Sends a POST request when it is pressed. The URL or the body has a secret that is valid once."""

    label: str
    url: str
    body: str = ""
    content_type: str = "application/json"

    def __repr__(self) -> str:
        """Without its URL and body, which must not appear in a log."""
        return f"ChannelButton({self.label!r})"


class ChannelMessage(Struct, frozen=True):
    """One notification. Title and text may be hostile: each channel makes them harmless."""

    id: str
    """The same for the same notification, also after a restart: it replaces itself where a channel can do that."""
    title: str
    text: str
    link: str
    urgency: Urgency = "normal"
    buttons: tuple[ChannelButton, ...] = ()
    """Only ntfy shows them, and at most three."""
    thread: str = ""
    """What belongs together, such as a session: its mails are one thread."""


class ChannelReceipt(Struct, frozen=True):
    """What a channel needs to take a message back. It has no secrets and can be stored."""

    data: str
    warning: str = ""
    """A sentence if it was sent, but not to everyone."""


class ChannelError(Exception):
    """A message wasn't sent, or wasn't taken back. The text is a sentence with the next step, without secrets."""

    def __init__(
        self, sentence: str, *, permanent: bool, retry_after: float | None = None, maybe_sent: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.permanent = permanent
        """Whether another attempt makes no sense until someone changes something."""
        self.retry_after = retry_after
        """How many seconds the service wants us to wait."""
        self.maybe_sent = maybe_sent
        """Whether the connection broke so late that the message may have arrived."""


class Channel(Protocol):
    """One place to send to. Holds no connection between calls, and never retries."""

    async def send(self, message: ChannelMessage) -> ChannelReceipt:
        """Sends it once. Raises ChannelError."""
        ...

    async def retract(self, receipt: ChannelReceipt, message: ChannelMessage) -> bool:
        """True if the message was taken back, False if this channel can't. Raises ChannelError."""
        ...

    async def probe(self) -> str:
        """Connects and signs in without sending a message: a sentence with what works. Raises ChannelError."""
        ...

    def describe(self) -> str:
        """Where it sends to, in a few words without secrets."""
        ...
