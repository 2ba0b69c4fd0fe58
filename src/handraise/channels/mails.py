"""A message as an e-mail, and what a mail server's answers mean. Pure: the time is an argument."""

import hashlib
import re
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape

from handraise.channels.model import ChannelError, ChannelMessage
from handraise.channels.wording import line_of, link_of, text_of
from handraise.texts import t

MOST_SUBJECT = 250
MOST_TEXT = 100_000
_MOST_REASON = 200
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Long headers are folded, never sent as they are: RFC 5322 allows 998 characters.
_POLICY = SMTP.clone(max_line_length=78, cte_type="7bit")


def mail(message: ChannelMessage, sender: str, recipients: list[str], now: datetime) -> EmailMessage:
    """The whole card as text and as simple HTML, with a link."""
    made = EmailMessage(policy=_POLICY)
    name, _, domain = sender.rpartition("@")
    made["From"] = Address("Handraise", name, domain)
    made["To"] = [Address("", *each.rsplit("@", 1)) for each in recipients]
    made["Subject"] = line_of(message.title, MOST_SUBJECT) or "Handraise"
    made["Date"] = now
    made["Message-ID"] = message_id(message.id, domain)
    if message.thread:
        # A mail that was never sent: all mails of a thread answer it, whichever arrives first.
        root = message_id(f"thread-{message.thread}", domain)
        made["In-Reply-To"] = root
        made["References"] = root
    # RFC 3834: no vacation notices in return. The second header says so to Exchange.
    made["Auto-Submitted"] = "auto-generated"
    made["X-Auto-Response-Suppress"] = "All"
    if message.urgency == "high":
        made["Importance"] = "high"
        made["X-Priority"] = "1"
    title, text, link = made["Subject"], text_of(message.text, MOST_TEXT), link_of(message.link)
    made.set_content("\n\n".join(each for each in (text, link) if each) + "\n", cte="quoted-printable")
    made.add_alternative(_html(str(title), text, link), subtype="html", cte="quoted-printable")
    return made


def message_id(stable: str, domain: str) -> str:
    """The same for the same message, so that a mail that is sent again is recognized as the same one."""
    if not _PLAIN_ID.fullmatch(stable):
        stable = hashlib.sha256(stable.encode(errors="surrogatepass")).hexdigest()[:32]
    return f"<{stable}@{domain}>"


def refused(code: int, host: str, *, step: str = "message") -> ChannelError:
    """What a server's refusal means. 4xx is temporary, such as greylisting; 5xx isn't. Its words aren't quoted."""
    permanent = code >= 500
    if step == "login":
        if permanent:
            return ChannelError(t("channels.email.login", host=host), permanent=True)
        return ChannelError(t("channels.email.login_later", host=host, code=code), permanent=False)
    if step == "sender":
        key = "channels.email.sender" if permanent else "channels.email.sender_later"
        return ChannelError(t(key, host=host, code=code), permanent=permanent)
    if permanent:
        return ChannelError(t("channels.email.refused", host=host, code=code), permanent=True)
    return ChannelError(t("channels.email.later", host=host, code=code), permanent=False)


def refused_recipients(refusals: dict[str, int], host: str) -> ChannelError:
    """Nobody gets it. Temporary if it is for one of them."""
    permanent = all(code >= 500 for code in refusals.values())
    addresses = ", ".join(refusals)
    key = "channels.email.recipients" if permanent else "channels.email.recipients_later"
    return ChannelError(t(key, host=host, addresses=addresses), permanent=permanent)


def partly_refused(refusals: dict[str, int], host: str) -> str:
    """Some get it, and some don't."""
    return t("channels.email.partly", host=host, addresses=", ".join(refusals)) if refusals else ""


def _html(title: str, text: str, link: str) -> str:
    opened = escape(t("channels.email.open"))
    parts = [
        '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family: sans-serif">',
        f"<h3>{escape(title)}</h3>",
        f'<pre style="white-space: pre-wrap; font-family: monospace">{escape(text)}</pre>' if text else "",
        f'<p><a href="{escape(link)}">{opened}</a></p>' if link else "",
        "</body></html>",
    ]
    return "\n".join(each for each in parts if each) + "\n"
