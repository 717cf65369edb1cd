"""Learning from swipes: the fold, live and over whole logs, and what is read off it."""
