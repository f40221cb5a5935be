"""Study of recall-paired preference: Diaz and Ferraro (2022)."""
