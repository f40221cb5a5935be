"""Systems and measures of irmeta behind published values."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from irmeta.api.other_readings import with_parameter
from irmeta.api.published_values import CatalogTrack, plain_name
from irmeta.archive.published_rules import catalog_rule, given_rule
from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measure

MOST_DIGITS = 15
"""Decimals that a float64 between 0 and 1 holds: a value with more is compared as far."""
_MEANINGS = pl.Schema(
    dict.fromkeys(("evaluator", "measure", "canonical", "qrels", "reason"), pl.String())
)


def match_names(published: Sequence[str], systems: Sequence[str]) -> dict[str, str]:
    """Map published names to systems: equal, or else alone in having the same plain name."""
    equal = {name: name for name in set(published) & set(systems)}
    rest = [
        pl.DataFrame({column: [one for one in names if one not in equal]}, {column: pl.String})
        .with_columns(plain=plain_name(column))
        .filter(pl.col("plain").is_unique())
        for column, names in (("published", published), ("system", systems))
    ]
    alike = rest[0].join(rest[1], on="plain").select("published", "system")
    return equal | dict(alike.iter_rows())


def add_meanings(
    rows: pl.DataFrame, catalog: CatalogTrack | None, sets: Sequence[str]
) -> pl.DataFrame:
    """Add the number, its digits, and the canonical measure and qrels set or why there is none.

    Parameters
    ----------
    rows
        Published values in the form of `published_values.SCHEMA`.
    catalog
        Track of the catalogue that the values are from; None: a table of the user.
    sets
        Names of the track's qrels sets.

    Returns
    -------
    DataFrame
        The rows with published, own_digits (decimals), digits (the most of the column), canonical,
        qrels (null: the first set) and reason.
    """
    columns = rows.select("evaluator", "measure").unique(maintain_order=True)
    meanings = [
        (evaluator, measure, *_meaning(catalog, evaluator, measure, sets))
        for evaluator, measure in columns.iter_rows()
    ]
    exponent = pl.col("printed").str.extract(r"[eE]([+-]?\d+)").cast(pl.Int32).fill_null(0)
    decimals = pl.col("printed").str.extract(r"\.(\d+)").str.len_chars().fill_null(0)
    column = ["evaluator", "measure", pl.col("query").is_null()]
    is_sound = pl.col("problem").is_null()
    return (
        rows.join(
            pl.DataFrame(meanings, _MEANINGS, orient="row"),
            on=["evaluator", "measure"],
            maintain_order="left",
        )
        .with_columns(
            published=pl.col("printed").cast(pl.Float64),
            own_digits=(decimals.cast(pl.Int32) - exponent).clip(0, MOST_DIGITS),
            canonical=pl.when(is_sound).then("canonical"),
            reason=pl.coalesce("problem", "reason"),
        )
        .with_columns(digits=pl.col("own_digits").max().over(column))
    )


def _meaning(
    catalog: CatalogTrack | None, evaluator: str, measure: str, sets: Sequence[str]
) -> tuple[str | None, str | None, str | None]:
    """Return the canonical measure and the qrels set behind a column, or why there is none."""
    if catalog is None:
        rule = given_rule(measure)
    else:
        rule = catalog_rule(catalog.id, evaluator, measure, catalog.run_tasks)
    if rule.measure is None:
        return None, None, rule.reason
    qrels = next((one for one in rule.sets if one in sets), None)
    if rule.sets and qrels is None:
        return None, None, f"the track has no qrels set {' or '.join(dict.fromkeys(rule.sets))}"
    try:
        spec = parse_measure(rule.measure)
        if rule.rel != 1:
            spec = with_parameter(spec, "rel", rule.rel)
    except MeasureError as error:
        return None, None, str(error)
    if spec is None:
        return None, None, f"{measure} has no least relevant grade"
    return spec.name, qrels, rule.reason or None
