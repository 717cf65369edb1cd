"""What the product does for its users: swipes, decks, matches, blocks, erasure; and the store it needs for that."""
