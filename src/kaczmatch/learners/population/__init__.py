"""What the others know: a prior fitted on a population, and the appeal of a candidate."""
