"""Files that people send, as blocks that Claude can read. Pure."""

import re
from base64 import b64encode
from typing import Any

from handraise.desk.interface import Words
from handraise.present.headlines import clipped, one_line
from handraise.surfaces.telegram.incoming import IncomingFile
from handraise.texts import t

LARGEST_IMAGE = 3_700_000
"""In Base64 it must stay under the 5 MB that the model accepts."""
LARGEST_TEXT = 200_000
LARGEST_PDF = 20_000_000
LARGEST_DOWNLOAD = 20_000_000
"""What Telegram lets a bot download."""
_NAME = 100
_MEGABYTE = 1_000_000
_IMAGES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)
_PDF = b"%PDF-"
_TICKS = re.compile("`{3,}")

Block = dict[str, Any]


class UnusableFile(Exception):
    """Claude can't read this file. The text is a sentence with the file's name."""


def image_type(data: bytes) -> str | None:
    """The media type by the content; a name can be wrong, and a wrong type would break the conversation."""
    return next((kind for start, kind in _IMAGES if start.match(data)), None)


def check_size(file: IncomingFile) -> None:
    """Raises UnusableFile for a file that isn't worth downloading."""
    if file.size > LARGEST_DOWNLOAD:
        raise _too_large(file, LARGEST_DOWNLOAD)


def block_of(file: IncomingFile, data: bytes) -> Block:
    """The file as a block of the Messages API: an image, a PDF, or text with its name. Raises UnusableFile."""
    if not data:
        raise UnusableFile(t("telegram.session.file.empty", name=name_of(file)))
    kind = image_type(data)
    if kind is not None:
        return _source("image", kind, _within(file, data, LARGEST_IMAGE))
    if data.startswith(_PDF):
        return _source("document", "application/pdf", _within(file, data, LARGEST_PDF))
    text = _text(data)
    if text is None:
        raise UnusableFile(t("telegram.session.file.unreadable", name=name_of(file)))
    _within(file, data, LARGEST_TEXT)
    return {"type": "text", "text": _quoted(name_of(file), text)}


def words(text: str, blocks: list[Block]) -> Words:
    """What is sent to Claude: the text alone, or with blocks after it."""
    if not blocks:
        return text
    return (*(({"type": "text", "text": text},) if text.strip() else ()), *blocks)


def name_of(file: IncomingFile) -> str:
    """The file's name for a sentence."""
    return clipped(one_line(file.name), _NAME) or t(
        "telegram.session.file.photo" if file.photo else "telegram.session.file.unnamed"
    )


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _quoted(name: str, text: str) -> str:
    """For Claude, so in English; the fence is longer than any in the text."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"File {name}:\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"


def _source(kind: str, media_type: str, data: bytes) -> Block:
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": b64encode(data).decode()}}


def _within(file: IncomingFile, data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise _too_large(file, most)
    return data


def _too_large(file: IncomingFile, most: int) -> UnusableFile:
    limit = f"{most / _MEGABYTE:g} MB"
    return UnusableFile(t("telegram.session.file.too_large", name=name_of(file), limit=limit))
