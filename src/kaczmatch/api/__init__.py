"""The HTTP API: FastAPI over the use cases of `service`."""
