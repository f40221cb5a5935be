"""Study of rareness: Türkmen, Lease and Kutlu (2023)."""
