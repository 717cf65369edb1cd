"""Who may call: service keys, user tokens, console sessions."""
