"""General charts: each takes a frame with named columns and says what it draws in words."""
