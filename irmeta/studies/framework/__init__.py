"""Framework of all studies: planning, resuming, writing, drawing, page and provenance."""
