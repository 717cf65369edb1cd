"""One update rule per file, behind one contract (`contract.py`)."""
