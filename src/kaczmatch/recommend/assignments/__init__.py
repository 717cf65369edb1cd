"""Assignments: who is given to whom, when everybody is looked at at once."""
