"""Addresses: which are this machine's own. `tests/surfaces/push/test_endpoints.py` has those of the public internet."""

import pytest

from handraise.model.addresses import is_loopback, is_public


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])
def test_this_machine_is_found_however_it_is_spelled(address: str) -> None:
    assert is_loopback(address)
    assert not is_public(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "8.8.8.8", "fe80::1%eth0", "localhost", "", "0.0.0.0"])
def test_another_one_is_not(address: str) -> None:
    assert not is_loopback(address)
