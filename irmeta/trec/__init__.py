"""Reading of TREC text: run files, qrels files, and the files of a track."""
