"""Row-action solvers of linear systems: the Kaczmarz family that the paper's learners descend from."""
