"""What was done to the tables, one file a step. `make migration words="what changes"` drafts the next one."""
