"""Tables, figures and words as files, and as one page that holds them all."""
