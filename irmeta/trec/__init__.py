"""TREC text in: run files, qrels files, and which files make a track."""
