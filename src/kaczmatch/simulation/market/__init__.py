"""A market in which both sides choose: everybody is shown people, swipes and learns at once, through the decks of the service."""
