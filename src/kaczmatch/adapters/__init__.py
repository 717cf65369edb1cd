"""What reaches out of the process, behind ports of the service."""
