"""People meeting people: profiles, decks, swipes, matches, blocks, and what was learned about somebody."""
