"""Columns and tables of stores and results."""

from irmeta.schema.columns import Column, Table, by_name
from irmeta.schema.store_tables import TABLES as STORE_TABLES

__all__ = ["FORMAT", "TABLES", "Column", "Table"]

FORMAT = 2  # of the store; a reader rejects a later format
TABLES = by_name(STORE_TABLES)
