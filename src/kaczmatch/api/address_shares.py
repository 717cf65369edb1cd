"""Nobody gets everything: how much of a limit each address takes at the moment."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, final

from starlette.types import Scope

_NETWORK_BITS: Final = 64  # what one customer of a provider gets at least


@final
class AddressShares:
    """A limit of which one address gets a share at most. It lives on one event loop, so counting needs no lock."""

    __slots__ = ("_largest", "_left", "_taken")

    def __init__(self, limit: int, share: float) -> None:
        self._left = limit
        self._largest = max(1, int(limit * share))
        self._taken: dict[str, int] = {}

    def full(self) -> bool:
        return self._left <= 0

    def take(self, address: str, amount: int = 1) -> bool:
        """Whether there was enough left, of the limit and of the share of the address. If so, it is taken."""
        taken = self._taken.get(address, 0) + amount
        if taken > self._largest or amount > self._left:
            return False
        self._taken[address] = taken
        self._left -= amount
        return True

    def give_back(self, address: str, amount: int = 1) -> None:
        self._left += amount
        left = self._taken[address] - amount
        if left:
            self._taken[address] = left
        else:
            del self._taken[address]


def client_address(scope: Scope) -> str:
    """Whose share a request counts against. Where a trusted proxy has named its client, the server has put it in the scope."""
    client = scope.get("client")
    return "" if client is None else address_key(client[0])


@lru_cache(maxsize=4_096)
def address_key(host: str) -> str:
    """What counts as one address: an IPv4 address, or the network of an IPv6 address."""
    if ":" not in host or len(host) > 64:
        return host
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> (128 - _NETWORK_BITS) << (128 - _NETWORK_BITS)))
