"""One update rule a file, behind one contract; priors, replay, monitors and influence."""
