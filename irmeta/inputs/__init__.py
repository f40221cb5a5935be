"""Runs and qrels that a program has in memory: dicts, frames, records, open files, data sets."""
