"""Score tables: arrays for computation, tidy frames and files for users."""
