"""Who of those who may be shown is shown."""
