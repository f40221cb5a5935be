"""General charts of frames with named columns, with a description in words for each mark."""
