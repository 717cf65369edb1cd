"""The command line (extra ``lab``)."""
