"""Bulk data in and out: profiles and swipes as files."""
