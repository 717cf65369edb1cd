"""The routes, one file per topic. The name of a function is the operation id in snake case."""
