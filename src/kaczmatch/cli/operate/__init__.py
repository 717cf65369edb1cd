"""Commands for operators: run the service, move data in and out, keep it safe, change what it learns with."""
