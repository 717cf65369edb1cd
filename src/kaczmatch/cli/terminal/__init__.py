"""What both groups of commands share: tables and progress in the terminal, errors in one line."""
