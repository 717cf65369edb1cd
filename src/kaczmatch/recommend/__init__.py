"""Who may meet whom, and how well they fit."""
