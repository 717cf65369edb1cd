"""People as the recommender knows them: profiles, kinds, terms, places, and the hard filters between two profiles."""
