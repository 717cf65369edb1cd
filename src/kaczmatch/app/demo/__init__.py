"""Invented people to play with."""
