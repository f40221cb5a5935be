"""Study of desirable properties of measures (Albahem et al. 2018)."""
