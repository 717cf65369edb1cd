"""The candidate index: everybody who can be shown, in columns that are searched at memory speed."""
