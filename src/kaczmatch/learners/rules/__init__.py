"""Rules without uncertainty: the paper's six, its future work, and baselines. One update rule per file."""
