"""Swipe logs in and out: CSV, JSON Lines, Parquet."""
