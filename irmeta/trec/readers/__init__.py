"""Runs and qrels as columns: dicts, frames, records, open files, data sets, files of any form."""
