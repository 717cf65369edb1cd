"""Whole logs: replay, predictions before each swipe, influence, monitors."""
