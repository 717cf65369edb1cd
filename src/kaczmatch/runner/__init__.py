"""Runs jobs in parts."""
