"""Decks: who is eligible, which policy deals, which cards come with which propensity, and why a deck is empty."""
