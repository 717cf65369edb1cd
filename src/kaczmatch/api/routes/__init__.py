"""One file a topic."""
