"""Statistics of score tables: how far a measure can be trusted. Never sees a file."""
