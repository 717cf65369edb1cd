"""Everybody who can be shown, laid out so that a deck reads only rows that can pass, at memory speed."""
