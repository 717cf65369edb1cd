"""The paper, reproduced: its tables, figures and claims, and a study of its future work."""
