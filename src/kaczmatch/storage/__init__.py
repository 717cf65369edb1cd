"""Stores: in memory, and on SQLite or PostgreSQL."""

from kaczmatch.storage.errors import DuplicateKey, SchemaOutOfDate, SearchAfterWrite
from kaczmatch.storage.memory import MemoryStore
from kaczmatch.storage.sql import SqlStore

__all__ = ["DuplicateKey", "MemoryStore", "SchemaOutOfDate", "SearchAfterWrite", "SqlStore"]
