"""Rules without uncertainty: the paper's six with its future work, and baselines."""
