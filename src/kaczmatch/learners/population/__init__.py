"""What other people teach: a prior and a threshold fitted to a population, and the appeal of a candidate."""
