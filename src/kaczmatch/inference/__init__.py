"""What can be concluded from decisions that were logged: estimates, and how far they might be off."""
