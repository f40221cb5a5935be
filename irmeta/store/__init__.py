"""Writing and reading of stores of tracks, in a folder of Parquet files or in memory."""
