"""What counts as one address, and what it gets."""

from __future__ import annotations

import pytest

from kaczmatch.api.address_shares import AddressShares, client_address


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("a:b", "a:b"),
        ("testclient", "testclient"),
    ],
)
def test_a_whole_network_of_ipv6_addresses_counts_as_one(host: str, counted: str) -> None:
    assert client_address({"type": "http", "client": (host, 1), "headers": []}) == counted
    assert client_address({"type": "http", "client": None, "headers": []}) == ""


def test_one_address_gets_its_share_and_all_together_the_limit() -> None:
    shares = AddressShares(10, 0.4)
    assert [shares.take("a") for _ in range(5)] == [True] * 4 + [False]
    assert shares.take("b", 4)
    assert not shares.take("c", 3)
    assert shares.take("c", 2)
    assert shares.full()
    assert not shares.take("d")
    shares.give_back("b", 3)
    assert not shares.full()
    assert shares.take("d", 3)
    shares.give_back("a", 4)
    assert shares.take("a", 4)
