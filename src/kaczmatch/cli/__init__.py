"""The command line (extra ``lab``): `research` for whoever compares learners, `operate` for whoever runs the service."""
