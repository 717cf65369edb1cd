"""Learners that keep a normal belief about a taste, with its uncertainty."""
