"""What every study shares: planning, resuming, writing, drawing, the page and provenance."""
