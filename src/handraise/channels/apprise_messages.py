"""A message as Apprise's services get it, and what a failure means. Pure: knows nothing of Apprise itself."""

import re

from handraise.channels.model import ChannelError, ChannelMessage
from handraise.channels.wording import line_of, link_of, text_of
from handraise.texts import t

MOST_TITLE = 200
MOST_TEXT = 3000
_GAP = "\n\n"
_STATUS = re.compile(r"\berror\s*=\s*([1-5][0-9]{2})\b")
# Names of requests and urllib3 for what fails before anything is sent.
_UNSENT = re.compile(r"NewConnectionError|NameResolutionError|ConnectTimeoutError|SSLError|Connection refused")
_TEMPORARY = (408, 425, 429)


def title_of(message: ChannelMessage, most: int) -> str:
    """What a service shows as a title; 0 means that it has none."""
    return line_of(message.title, min(most or MOST_TITLE, MOST_TITLE)) or "Handraise"


def body_of(message: ChannelMessage, most: int) -> str:
    """Text and link in at most so many bytes. The link is never cut: without it, nobody could answer."""
    link = link_of(message.link)
    room = min(most, MOST_TEXT) - len(_GAP + link)
    if room <= 0:
        return link
    return _GAP.join(each for each in (text_of(message.text, room), link) if each) or title_of(message, 0)


def read_status(line: str) -> int | None:
    """The HTTP status that a line of Apprise's log names. Nothing else of the line is used: it may have secrets."""
    found = _STATUS.search(line)
    return int(found[1]) if found else None


def is_unsent(line: str) -> bool:
    """Whether a line of Apprise's log says that no connection was made."""
    return _UNSENT.search(line) is not None


def failure(service: str, status: int | None, *, maybe_sent: bool) -> ChannelError:
    """What it means that Apprise couldn't send."""
    if status is None:
        return ChannelError(t("channels.apprise.unreachable", service=service), permanent=False, maybe_sent=maybe_sent)
    if status >= 500 or status in _TEMPORARY:
        return ChannelError(t("channels.apprise.busy", service=service, status=status), permanent=False)
    if status in (401, 403):
        return ChannelError(t("channels.apprise.unauthorized", service=service, status=status), permanent=True)
    return ChannelError(t("channels.apprise.refused", service=service, status=status), permanent=True)
