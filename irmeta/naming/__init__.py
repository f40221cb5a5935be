"""Names of measures and preferences, such as ``RBP(p=0.8)@10``: grammar, parameters, registry."""
