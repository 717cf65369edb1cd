"""Which policy is better: off-policy estimates from the log, and experiments."""
