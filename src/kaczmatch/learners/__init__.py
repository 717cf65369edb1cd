"""Learners: one update rule per file behind one contract (`contract.py`), whole logs, and fits to a population."""
