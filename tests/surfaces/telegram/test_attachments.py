"""Files that people send, as Claude can read them."""

from base64 import b64decode

import pytest

from handraise.surfaces.telegram import attachments
from handraise.surfaces.telegram.attachments import UnusableFile, block_of, check_size, words
from handraise.surfaces.telegram.incoming import IncomingFile

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20
PHOTO = IncomingFile("f1", photo=True)


def file(name: str, media_type: str = "", size: int = 0) -> IncomingFile:
    return IncomingFile("f1", name, media_type, size)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0abc", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\n\x01\x02\x03WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_an_image_by_its_content(data: bytes, kind: str) -> None:
    block = block_of(file("wrong.txt", "text/plain"), data)
    assert (block["type"], block["source"]["media_type"]) == ("image", kind)
    assert b64decode(block["source"]["data"]) == data


def test_a_pdf_is_a_document() -> None:
    block = block_of(file("a.pdf"), b"%PDF-1.7 ...")
    assert (block["type"], block["source"]["media_type"]) == ("document", "application/pdf")


def test_text_is_quoted_with_its_name() -> None:
    assert block_of(file("a.py"), b"\xef\xbb\xbfprint(1)\n") == {
        "type": "text",
        "text": "File a.py:\n```\nprint(1)\n```",
    }


def test_a_fence_in_the_text_ends_nothing() -> None:
    text = block_of(file("a.md"), b"````\nx\n````\n")["text"]
    assert text == "File a.md:\n`````\n````\nx\n````\n`````"


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        (
            "a.zip",
            b"PK\x03\x04\xff\xfe",
            "a.zip can't be sent to Claude. Use an image (PNG, JPEG, GIF or WebP), a PDF or a text file.",
        ),
        (
            "a.bin",
            b"a\0b",
            "a.bin can't be sent to Claude. Use an image (PNG, JPEG, GIF or WebP), a PDF or a text file.",
        ),
        ("a.txt", b"", "a.txt is empty."),
        ("a.log", b"x" * 200_001, "a.log is too large. The limit is 0.2 MB."),
        ("a.png", PNG + b"x" * 4_000_000, "a.png is too large. The limit is 3.7 MB."),
    ],
)
def test_what_claude_cannot_read_gets_a_sentence(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(UnusableFile) as error:
        block_of(file(name), data)
    assert str(error.value) == sentence


def test_a_file_that_telegram_does_not_hand_out_is_not_downloaded() -> None:
    check_size(file("a.iso", size=attachments.LARGEST_DOWNLOAD))
    with pytest.raises(UnusableFile, match=r"a.iso is too large. The limit is 20 MB."):
        check_size(file("a.iso", size=attachments.LARGEST_DOWNLOAD + 1))


def test_hidden_characters_in_a_name_are_visible() -> None:
    assert attachments.name_of(file("a\u202etxt.exe")) == "a⟨U+202E⟩txt.exe"
    assert attachments.name_of(PHOTO) == "The photo"
    assert attachments.name_of(file(" ")) == "The file"


def test_words_are_plain_text_unless_there_are_blocks() -> None:
    image = block_of(PHOTO, PNG)
    assert words("fix it", []) == "fix it"
    assert words("fix it", [image]) == ({"type": "text", "text": "fix it"}, image)
    assert words(" ", [image]) == (image,)
