"""Links as people see them: the host set apart, and nothing can be opened that could be misread."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handraise.present.links import link_of


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://login.example.com/oauth?x=1#y", ("https://", "login.example.com", "/oauth?x=1#y")),
        ("HTTPS://Login.Example.COM", ("https://", "login.example.com", "")),
        ("https://example.com:08443/?a=b@c", ("https://", "example.com:8443", "/?a=b@c")),
        ("http://localhost:3000/callback", ("http://", "localhost:3000", "/callback")),
        ("http://127.0.0.1:3000/", ("http://", "127.0.0.1:3000", "/")),
        ("http://[::1]:3000/", ("http://", "[::1]:3000", "/")),
        ("https://example.com?next=https://evil.example", ("https://", "example.com", "?next=https://evil.example")),
        ("https://example.com/a\\b", ("https://", "example.com", "/a\\b")),
    ],
)
def test_a_web_address_can_be_opened_and_its_host_stands_apart(url: str, parts: tuple[str, str, str]) -> None:
    link = link_of(url)

    assert (link.before, link.host, link.after) == parts
    assert urlsplit(link.href).netloc == link.host
    assert link.cautions == ()


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt://example.com/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "vscode://file/etc/passwd",
        "//example.com/",
        "example.com",
        "https:example.com",
        "https:///example.com",
        " https://example.com",
        "https://example.com/a b",
        "https://example.com/\ta",
        "java\nscript:alert(1)",
        "https://good.example\\@evil.example/",
        "https://good.example\\.evil.example/",
        "https://good.example@evil.example/",
        "https://user:secret@evil.example/",
        "https://%65vil.example/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://010.0.0.1/",
        "https://[::1",
        "https://[fe80::1%25eth0]/",
        "https://example.com:0/",
        "https://example.com:99999/",
        "https://example.com:port/",
        "https://exa\u202emple.com/",
        "https://example.com/\u202egnp.exe",
        "https://exam\u200bple.com/",
        "https://stra\u00dfe.example/",
        "https://a..example/",
        "https://" + "a" * 64 + ".example/",
        "https://example.com/" + "a" * 9000,
        "https://",
        "x",
    ],
)
def test_everything_else_is_text_with_a_caution(url: str) -> None:
    link = link_of(url)

    assert link.href == ""
    assert link.host == ""
    assert link.text.isprintable()
    assert link.cautions == ("This isn't a plain web address, so it can't be opened from here.",)


@pytest.mark.parametrize("url", ["https://\u0430pple.com/", "https://xn--pple-43d.com/"])
def test_letters_that_look_like_others_are_spelled_in_ascii(url: str) -> None:
    link = link_of(url)

    assert (link.host, link.href) == ("xn--pple-43d.com", "https://xn--pple-43d.com/")
    assert link.cautions == ("The host has letters that can look like others: `\u0430pple.com`",)


def test_an_address_without_encryption_is_said_to_be_so() -> None:
    assert link_of("http://example.com/").cautions == ("Not encrypted (http)",)


def test_letters_in_a_path_are_shown_as_they_are_and_opened_encoded() -> None:
    link = link_of("https://example.com/\u0447\u0442\u043e?a=1%20b")

    assert link.after == "/\u0447\u0442\u043e?a=1%20b"
    assert link.href == "https://example.com/%D1%87%D1%82%D0%BE?a=1%20b"


@given(st.text(max_size=60).map(lambda text: f"https://{text}") | st.text(max_size=60))
def test_what_opens_is_always_what_is_shown(url: str) -> None:
    link = link_of(url)

    if link.href:
        assert link.href.isascii()
        assert link.href.startswith((f"https://{link.host}", f"http://{link.host}"))
        assert link.href[len(link.before + link.host)] in "/?#"
        assert not set(link.host) & set("/\\@?#% ")
    else:
        assert link.cautions
