"""Names of the coefficients of agreement between two sets of labels."""

SCALE_FREE = ("spearman", "precision", "recall", "kappa_binary")
"""Coefficients that need no common scale of grades."""
SAME_SCALE = (
    "exact",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "ac2",
    "mean_reference",
    "mean_judge",
    "leniency",
)
"""Coefficients of grades on one scale."""
