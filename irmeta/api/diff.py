"""`diff`: comparison of two files of results."""

from __future__ import annotations

from collections.abc import Mapping

from irmeta.errors import MeasureError, UsageError
from irmeta.locations import AnyLocation
from irmeta.measures.names import parse_measure
from irmeta.policies import Missing
from irmeta.results.diff import Difference, compare_files


def diff(
    a: AnyLocation,
    b: AnyLocation,
    tolerance: float = 1e-9,
    *,
    pairs: Mapping[str, str] | None = None,
    worse_only: bool = False,
    missing: Missing = "error",
) -> Difference:
    """Compare two files of means, or of values per query, row by row.

    Parameters
    ----------
    a, b : str or Path
        Files written by irmeta, Parquet or CSV, or their URLs. CSV files have no provenance.
    tolerance : float, default 1e-9
        Absolute tolerance within which values are equal. NaN equals NaN.
    pairs : dict, optional
        Systems of `a` with the systems of `b` that they are compared with, ``{old: new}``; other
        systems are left out. Default: systems of the same name.
    worse_only : bool, default False
        Whether values that are better in `b` count as equal.
    missing : {'error', 'common', 'zero'}, default 'error'
        Rows of one file alone: differences, left out, or 0 in the other file. Means of another
        number of queries are a difference always.

    Returns
    -------
    Difference
        Differences in provenance, and differences in values by measure.

    Raises
    ------
    UsageError
        If a file cannot be read or is not a result table, if one has means and the other
        per-query values, if a system of a pair is unknown, or if `worse_only` meets a measure that
        irmeta does not know.
    DataError
        If a Parquet file is damaged.

    Examples
    --------
    >>> store.means("AP", tie_order="trec_eval").write_csv("a.csv")
    >>> store.means("AP", tie_order="score-file").write_csv("b.csv")
    >>> irmeta.diff("a.csv", "b.csv").measures.select("both", "different").row(0)
    (41, 36)
    >>> found = irmeta.diff("a.csv", "a.csv", 0.01, pairs={"aldDFR": "aldBM25"}, worse_only=True)
    >>> found.same
    True
    """
    return compare_files(
        a,
        b,
        tolerance,
        pairs=pairs,
        directions=_direction_of if worse_only else None,
        missing=missing,
    )


def _direction_of(name: str) -> int:
    try:
        return parse_measure(name).measure.direction
    except MeasureError:
        problem = f"which values of {name!r} are worse is unknown, as is the measure"
        raise UsageError(f"{problem}: compare without `worse_only=True`.") from None
