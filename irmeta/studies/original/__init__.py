"""Studies of irmeta that follow no single paper."""
