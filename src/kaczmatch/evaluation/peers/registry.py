"""All peers, imported when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.peers.contract import Peer
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.extras import missing_extra

LIBRARIES = ("river", "vowpal_wabbit", "scikit_learn", "mabwiser", "implicit", "ease")


def all_peers() -> list[Peer]:
    """Every peer; those that learn from a user's own swipes alone, also with appeal as one more feature."""
    return [each for library in LIBRARIES for peer in peers_of(library) for each in with_appeal(peer)]


def peers_of(library: str) -> list[Peer]:
    """The peers of one library."""
    try:
        found: list[Peer] = list(import_module(f"kaczmatch.evaluation.peers.{library}").peers())
    except ModuleNotFoundError as missing:
        raise InvalidInput("peers", str(missing_extra(missing, "bench"))) from missing
    return found


def with_appeal(peer: Peer) -> Iterator[Peer]:
    """The peer, and where it can take it, the peer with appeal as one more feature."""
    yield peer
    if isinstance(peer, IndividualPeer):
        yield replace(peer, name=f"{peer.name} + appeal", appeal=True)
