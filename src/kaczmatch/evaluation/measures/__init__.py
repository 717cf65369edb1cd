"""The numbers of an evaluation, as frozen dataclasses. No table, no prose, no chart."""
