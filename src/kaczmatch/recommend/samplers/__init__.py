"""Samplers: one way to draw the cards of a deck per file, behind one contract (`contract.py`)."""
