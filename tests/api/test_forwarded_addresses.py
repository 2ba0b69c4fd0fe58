"""Where a request comes from, whatever its headers say."""

import pytest

from handraise.api.origins import address_of, client_of

PROXIES = frozenset({"10.0.0.1", "10.0.0.2", "127.0.0.1", "::1"})


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("192.0.2.7", [], "192.0.2.7"),
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.2, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, , 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["198.51.100.1, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.0.0.1", ["2001:DB8:0:0::1"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.2, 127.0.0.1"], "10.0.0.2"),
        ("10.0.0.1", ["\xff\x00", "x" * 5000], "10.0.0.1"),
        ("a name", ["198.51.100.1"], "a name"),
    ],
)
def test_the_nearest_address_that_is_no_proxy_of_ours_is_the_client(
    peer: str, forwarded: list[str], found: str
) -> None:
    assert address_of(peer, forwarded, PROXIES) == found


def test_who_has_a_whole_network_is_one_client() -> None:
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff:1") == "2001:db8::/64"
    assert client_of("2001:db8:0:1::1") != client_of("2001:db8::1")
    assert client_of("192.0.2.7") == "192.0.2.7"
    assert client_of("::ffff:192.0.2.7") == client_of("::ffff:192.0.2.7")
    assert client_of("this machine") == "this machine"
