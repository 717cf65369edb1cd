"""Learners of other libraries under the same protocol, and how they compare with ours."""
