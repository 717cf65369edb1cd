"""Belief learners: a normal distribution over the taste of each user."""
