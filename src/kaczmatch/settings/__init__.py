"""Settings of the service, by environment and file."""
