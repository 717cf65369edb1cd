"""Values and linear algebra: no input or output, no framework."""
