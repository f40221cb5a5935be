"""Facts about TREC's tracks: runs, qrels and published scores, and what to do with them."""
