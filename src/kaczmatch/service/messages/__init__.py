"""What the app is told: a feed to poll, and webhooks."""
