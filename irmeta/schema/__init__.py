"""Every table's columns, types and keys: the one vocabulary of stores and results."""

from irmeta.schema import atomized, results, store
from irmeta.schema.columns import Column, Table

__all__ = ["FORMAT", "TABLES", "Column", "Table"]

FORMAT = 1  # of the store; a reader refuses a greater one
TABLES = {t.name: t for t in (*store.TABLES, *results.TABLES, *atomized.TABLES)}
