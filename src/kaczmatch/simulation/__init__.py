"""Populations with hidden tastes that swipe on each other, and what learners make of it."""
