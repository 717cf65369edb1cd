"""Stores: in memory, and on SQLite or PostgreSQL."""

from kaczmatch.storage.errors import OutOfDate, Taken, WrittenAlready
from kaczmatch.storage.memory import MemoryStore
from kaczmatch.storage.sql import SqlStore

__all__ = ["MemoryStore", "OutOfDate", "SqlStore", "Taken", "WrittenAlready"]
