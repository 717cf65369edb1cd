"""Picks: everybody's best mutual matches at once, exact."""
