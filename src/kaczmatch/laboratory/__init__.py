"""Experiments: the paper's, reproduced, and what happens under honest labels."""
