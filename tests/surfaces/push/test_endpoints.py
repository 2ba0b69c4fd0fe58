"""Endpoints: what may be reached, and what would lead into the hub's own network."""

import pytest

from handraise.model.addresses import is_public
from handraise.model.devices import Unusable
from handraise.surfaces.push.endpoints import check_addresses, read_endpoint

PUBLIC = ["8.8.8.8", "142.250.74.106", "2a00:1450:4001:82a::200a", "64:ff9b::808:808", "::ffff:8.8.8.8"]
PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a00:1::",
    "2001:db8::1",
    "localhost",
    "",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_the_open_internet_may_be_reached(address: str) -> None:
    assert is_public(address)
    check_addresses([address])


@pytest.mark.parametrize("address", PRIVATE)
def test_nothing_of_the_hubs_own_network_may_be_reached_however_it_is_spelled(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(Unusable, match="public internet"):
        check_addresses(["8.8.8.8", address])


def test_a_name_without_an_address_is_not_found() -> None:
    with pytest.raises(Unusable, match="be found from here"):
        check_addresses([])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "push.example/x",
        "http://push.example/x",
        "ftp://push.example/x",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "https://user@push.example/x",
        "https://push.example:0/x",
        "https://push.example:99999/x",
        "https://push.example:x/x",
        "https://[::1/x",
        "https://push.example/x#y",
        "https://push.example/a b",
        "https://push.example/x\r\nhost: other",
        "https://push.example/é",
        "https://push.example/" + "x" * 2048,
    ],
)
def test_what_is_no_address_of_a_push_service_is_refused(text: str) -> None:
    with pytest.raises(Unusable):
        read_endpoint(text)


def test_an_endpoint_is_taken_apart() -> None:
    whole = read_endpoint("https://Push.Example/send/a%2Fb?c=d")
    assert (whole.scheme, whole.host, whole.port, whole.target) == ("https", "push.example", 443, "/send/a%2Fb?c=d")
    assert whole.name == "push.example"
    assert read_endpoint("https://push.example:8443").name == "push.example:8443"
    assert read_endpoint("https://[2a00:1450::1]/x").name == "[2a00:1450::1]"


def test_plain_http_and_private_addresses_take_a_setting() -> None:
    assert read_endpoint("http://127.0.0.1:81/x", private=True).port == 81
    check_addresses(["127.0.0.1"], private=True)
    with pytest.raises(Unusable, match="https"):
        read_endpoint("gopher://127.0.0.1/x", private=True)
