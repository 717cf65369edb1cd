"""Proof on a real swipe log: learn on the first swipes, freeze, rank the rest, without looking ahead."""
