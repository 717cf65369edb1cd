"""What a person may demand: everything kept about them, and its erasure."""
