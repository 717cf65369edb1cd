"""Jobs on data of any size, in parts that a runner spreads over threads, processes or machines."""
