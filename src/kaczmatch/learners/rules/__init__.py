"""The six rules of the paper, its future work, and baselines: one update rule per file."""
