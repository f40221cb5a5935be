"""Output of agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.errors import first_few
from irmeta.show.console import open_console, print_table, print_text
from irmeta.show.notes import note

if TYPE_CHECKING:
    from irmeta.api.agree import JudgeAgreement

REVERSED = -0.5
"""Spearman's rho up to which a scale may run the other way."""
SHOWN = (
    *("spearman", "precision", "recall", "kappa_binary", "kappa", "kappa_quadratic"),
    *("alpha_ordinal", "ac2"),
)


def ask_about_scales(judges: pl.DataFrame) -> None:
    """Print a note on judges whose grades fall as those of the reference rise."""
    reversed_ = (pl.col("spearman") <= REVERSED) & (pl.col("spearman_high") < 0)
    for row in judges.filter(reversed_).iter_rows(named=True):
        track = f"{row['track']}: " if row["track"] else ""
        note(
            f"irmeta: {track}Spearman's rho of {row['judge']} and {row['reference']} is "
            f"{row['spearman']:.2f}: does one of their scales run the other way, with 1 as the "
            "best grade?"
        )


def print_agreement(found: JudgeAgreement, digits: int) -> None:
    """Print the best-known coefficients of each judge with their intervals, best judge first."""
    judges = found.judges.sort("kappa_binary", descending=True, nulls_last=True)
    keys = ["track"] if judges["track"].n_unique() > 1 else []
    for (reference,), rows in judges.group_by("reference", maintain_order=True):
        print_text(open_console(), f"Agreement with {reference}", "bold")
        texts = [_with_interval(name, digits) for name in SHOWN]
        print_table(open_console(), rows.select(*keys, "judge", "docs", *texts))
    differing = judges.filter(~pl.col("scale").str.starts_with("same"))["judge"].to_list()
    if differing and not found.settings["same_scale"]:
        advice = (
            "compared by --raw"
            if found.settings["raw"]
            else "no kappa of grades, alpha or AC; add --same-scale if a set only lacks a grade"
        )
        names = first_few(differing, "--format csv lists their grades")
        note(f"irmeta: grades differ from the reference's: {names}: {advice}")
    kinds = judges["interval"].to_list()
    covered = {
        "percentile": "95 % intervals draw whole queries (bootstrap percentiles, which of 20 to 30 "
        "queries cover 88 to 95 % in simulations)",
        "bootstrap-t": "95 % intervals of 5 to 19 queries are bootstrap-t over queries (those of "
        "kappa, alpha and AC cover 92 to 97 % in simulations, of recall 79 % and more)",
        "jackknife t": "95 % intervals of 2 to 4 queries are Student's t by a jackknife over "
        "queries (91 to 96 % cover, of recall 82 % and more)",
    }
    texts = [text for kind, text in covered.items() if kind in kinds]
    note(f"irmeta: {'; '.join([*texts, '--format csv has all coefficients'])}")


def _with_interval(name: str, digits: int) -> pl.Expr:
    """Format a coefficient with its interval, such as ``0.371 [0.316, 0.428]``."""
    parts = [
        pl.col(column).map_elements(lambda v: f"{v:.{digits}f}", pl.String)
        for column in (name, f"{name}_low", f"{name}_high")
    ]
    has_interval = pl.col(f"{name}_low").is_not_nan()
    text = pl.when(has_interval).then(pl.format("{} [{}, {}]", *parts)).otherwise(parts[0])
    return pl.when(pl.col(name).is_not_nan()).then(text).otherwise(pl.lit(None)).alias(name)
