"""What every room of the service shares: records, the store port, configuration, refusals, and what follows from events."""
