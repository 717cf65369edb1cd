"""Recommendation: people and hard filters, scores, the candidate index, samplers and decks."""
