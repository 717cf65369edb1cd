"""Commands for research: what learns best, on real and on simulated swipes."""
