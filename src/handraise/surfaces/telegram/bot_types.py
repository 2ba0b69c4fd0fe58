"""What the Bot API sends: only what is used here. Unknown fields are ignored. Pure."""

from msgspec import Struct, field


class BotUser(Struct, frozen=True):
    """A person, or a bot."""

    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""
    has_topics_enabled: bool = False

    @property
    def name(self) -> str:
        """As people write their name; may be anything, and isn't unique."""
        return f"{self.first_name} {self.last_name}".strip()


class BotChat(Struct, frozen=True):
    """A private chat, a group, a supergroup or a channel."""

    id: int
    type: str = ""
    title: str = ""
    username: str = ""
    is_forum: bool = False

    @property
    def private(self) -> bool:
        """A chat with one person."""
        return self.type == "private"


class MessageEntity(Struct, frozen=True):
    """Formatting, a command or a link in a message. Offsets count UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str = ""


class PhotoSize(Struct, frozen=True):
    """One size of a photo."""

    file_id: str
    width: int = 0
    height: int = 0
    file_size: int = 0


class Attachment(Struct, frozen=True):
    """A file that someone sent: a document, or something that plays. Its name is what they call it."""

    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: int = 0


class BotMessage(Struct, frozen=True):
    """A message, as far as we read it. One that is no longer accessible has the date 0."""

    message_id: int
    chat: BotChat
    date: int = 0
    from_: BotUser | None = field(default=None, name="from")
    sender_chat: BotChat | None = None
    message_thread_id: int | None = None
    is_topic_message: bool = False
    text: str = ""
    entities: tuple[MessageEntity, ...] = ()
    caption: str = ""
    photo: tuple[PhotoSize, ...] = ()
    document: Attachment | None = None
    audio: Attachment | None = None
    video: Attachment | None = None
    voice: Attachment | None = None
    media_group_id: str = ""
    reply_to_message: "BotMessage | None" = None
    migrate_to_chat_id: int | None = None
    migrate_from_chat_id: int | None = None

    @property
    def topic(self) -> int | None:
        """Its topic. In a chat without topics, a thread is only a chain of replies."""
        return self.message_thread_id if self.is_topic_message else None

    @property
    def attachment(self) -> Attachment | None:
        """The file in it; of a photo, the largest size."""
        if self.photo:
            largest = max(self.photo, key=lambda each: each.width * each.height)
            return Attachment(largest.file_id, "", "image/jpeg", largest.file_size)
        return self.document or self.audio or self.video or self.voice


class CallbackQuery(Struct, frozen=True):
    """Someone pressed a button."""

    id: str
    from_: BotUser = field(name="from")
    message: BotMessage | None = None
    data: str = ""


class ChatMember(Struct, frozen=True):
    """What someone is in a chat: `member`, `administrator`, `left`, `kicked` and others."""

    user: BotUser
    status: str = ""


class ChatMemberUpdated(Struct, frozen=True):
    """The bot was added, removed, blocked or unblocked."""

    chat: BotChat
    new_chat_member: ChatMember
    from_: BotUser | None = field(default=None, name="from")
    old_chat_member: ChatMember | None = None


class GenerationStopped(Struct, frozen=True):
    """Someone pressed Stop on a draft."""

    chat: BotChat
    draft_id: int
    message_thread_id: int | None = None


class Update(Struct, frozen=True):
    """One thing that happened. One that we can't read has only its number."""

    update_id: int
    message: BotMessage | None = None
    edited_message: BotMessage | None = None
    callback_query: CallbackQuery | None = None
    my_chat_member: ChatMemberUpdated | None = None
    stopped_message_generation: GenerationStopped | None = None


class FilePath(Struct, frozen=True):
    """Where a file can be downloaded, for at least an hour."""

    file_id: str
    file_path: str = ""
    file_size: int = 0


class ForumTopic(Struct, frozen=True):
    """A topic that was created."""

    message_thread_id: int
    name: str = ""


UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation")
"""The kinds of updates that we ask for."""
