"""The Parquet store: the only code that touches its files."""
