"""Which addresses may be called on somebody's say-so: public ones. Whoever chooses a URL must not reach our own network."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))  # NAT64: an IPv4 address at the end


def is_public(text: str) -> bool:
    """Whether an address is one of the open internet, and so is every address it may carry within."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        inner = _carried(address)
        if inner is not None:
            return _open(inner)
    return _open(address)


def _open(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and address.is_site_local:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _TRANSLATED) or int(address) >> 32 == 0:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
