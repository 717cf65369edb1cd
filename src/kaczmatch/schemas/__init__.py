"""The HTTP contract as pydantic models, one file per topic. The API, the client and the service share them."""
