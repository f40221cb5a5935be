"""A store of tracks, in a folder of Parquet files or in memory: making it and reading it."""
