"""Statistics of score tables: how far a measure can be trusted. This room reads no file."""
