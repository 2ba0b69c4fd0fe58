"""A hub's address, as people type it."""

import pytest

from handraise.client.address import HubAddress, read_address


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("http://hub.example", HubAddress("hub.example", 80, False, "hub.example", "")),
        ("https://Hub.example/", HubAddress("hub.example", 443, True, "Hub.example", "")),
        ("http://127.0.0.1:8420", HubAddress("127.0.0.1", 8420, False, "127.0.0.1:8420", "")),
        ("http://[::1]:8420", HubAddress("::1", 8420, False, "[::1]:8420", "")),
        ("https://hub.example/a b/c%20d/", HubAddress("hub.example", 443, True, "hub.example", "/a%20b/c%20d")),
        ("http://ana:secret@hub.example:90", HubAddress("hub.example", 90, False, "hub.example:90", "")),
        ("http://bücher.example", HubAddress("bücher.example", 80, False, "xn--bcher-kva.example", "")),
    ],
)
def test_it_is_read(typed: str, address: HubAddress) -> None:
    assert read_address(typed) == address


@pytest.mark.parametrize("typed", ["", "hub.example:8420", "http://", "ftp://hub", "http://hub:port", "http://[::1"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_address(typed)
