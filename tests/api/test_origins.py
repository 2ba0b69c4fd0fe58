"""Which hosts are ours, and which origins may change something."""

import pytest

from handraise.api.origins import HEADERS, host_is_ours, may_change, origin_is_ours

ALLOWED = frozenset({"hub.example", "other.example:8443"})


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost:8420", True),
        ("LOCALHOST", True),
        ("127.0.0.1:8420", True),
        ("[::1]:8420", True),
        ("hub.example", True),
        ("hub.example:8420", True),
        ("other.example:8443", True),
        ("other.example", False),
        ("other.example:80", False),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8420", False),
        ("localhost:8420@evil.example", False),
        ("evil.example:8420:8420", False),
        ("[::1]", True),
        ("[::1", False),
        ("[::1]evil.example", False),
        ("[::1].evil.example:80", False),
        ("[::2]:8420", False),
        ("", False),
        (None, False),
    ],
)
def test_a_name_that_somebody_pointed_at_us_is_not_ours(host: str | None, ours: bool) -> None:  # lesson 53
    assert host_is_ours(host, ALLOWED) is ours


@pytest.mark.parametrize(
    ("origin", "host", "ours"),
    [
        ("http://localhost:8420", "localhost:8420", True),
        ("http://LOCALHOST:8420", "localhost:8420", True),
        ("http://localhost:3000", "localhost:8420", False),
        ("http://127.0.0.1:8420", "localhost:8420", False),
        ("https://hub.example", "hub.example", True),
        ("https://hub.example", "127.0.0.1:8420", True),  # a proxy that puts its own Host there
        ("https://hub.example:444", "127.0.0.1:8420", False),
        ("https://evil.example", "evil.example", False),
        ("https://evil.example", "hub.example", False),
        ("https://hub.example.evil.example", "hub.example", False),
        ("https://evil.example/hub.example", "hub.example", False),
        ("https://hub.example@evil.example", "hub.example", False),
        ("null", "hub.example", False),
        ("", "hub.example", False),
        (None, "hub.example", False),
        ("file://", "hub.example", False),
        ("chrome-extension://hub.example", "hub.example", False),
        ("http://[", "hub.example", False),
        ("https://hub.example", None, True),
        ("http://localhost:8420", None, False),
    ],
)
def test_only_a_page_of_this_very_host_may_change_something(origin: str | None, host: str | None, ours: bool) -> None:
    assert origin_is_ours(origin, host, ALLOWED) is ours


def test_a_hub_with_tls_trusts_no_page_that_came_in_the_clear() -> None:
    assert not origin_is_ours("http://hub.example", "hub.example", ALLOWED, secure=True)
    assert origin_is_ours("https://hub.example", "hub.example", ALLOWED, secure=True)
    assert origin_is_ours("http://localhost:8420", "localhost:8420", ALLOWED, secure=True)


def test_a_change_by_cookie_needs_an_origin_and_a_script_has_none() -> None:
    headers = {"host": "localhost:8420"}
    assert may_change("GET", headers, by_cookie=True, allowed=())
    assert not may_change("POST", headers, by_cookie=True, allowed=())
    assert may_change("POST", headers, by_cookie=False, allowed=())
    foreign = {**headers, "origin": "https://evil.example"}
    for method in ("POST", "PATCH", "DELETE", "PUT"):
        assert not may_change(method, foreign, by_cookie=False, allowed=())


def test_no_page_may_bring_a_script_of_its_own() -> None:
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
