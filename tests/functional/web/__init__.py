"""Tests of the pages: one browser for all of them."""
