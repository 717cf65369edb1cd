"""Runs jobs in parts: on threads, on processes, or on a Ray cluster."""
