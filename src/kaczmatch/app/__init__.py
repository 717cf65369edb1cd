"""The composition root: settings, a clock and randomness become a running system."""
