"""Runs and qrels in any form, in files or in memory, and the files of a track."""
