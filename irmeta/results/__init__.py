"""Score tables: arrays while they are worked on, tidy frames and files for people."""
