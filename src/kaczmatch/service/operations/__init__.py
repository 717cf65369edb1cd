"""What an operator runs and looks at: models, maintenance, verification, figures, timelines."""
