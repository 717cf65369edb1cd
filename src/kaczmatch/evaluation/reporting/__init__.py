"""Tables, words and charts made from the results of an evaluation. No number is computed here but for display."""
