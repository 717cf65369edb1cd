"""The evaluation of a swipe log, without looking ahead: one table of predictions, and what follows from it."""
