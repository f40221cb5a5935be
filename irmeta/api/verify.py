"""`verify`: whether published values can be recomputed from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack, cast

import polars as pl

from irmeta.api.store import Store
from irmeta.archive.verification import Verification, verify_tracks
from irmeta.errors import UsageError
from irmeta.locations import AnyLocation
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.policy_keywords import EvalChoices
from irmeta.progress import Progress, shows_progress
from irmeta.store.scan import Tracks


@shows_progress("Verifying")
def verify(
    store: Store | AnyLocation,
    published: str | Path | pl.DataFrame | None = None,
    *,
    track: Tracks = None,
    catalog: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[EvalChoices],
) -> Verification:
    """Recompute published values of a store's systems, and compare them to the printed digits.

    Parameters
    ----------
    store : Store, str or Path
        The systems' lists and judgments: a store or its folder.
    published : str, Path or DataFrame, optional
        A CSV file or a frame with the columns system, measure, value, and optionally track, query
        (``all``, ``amean`` or empty: a mean) and evaluator. Default: the scores in the catalogue of
        TREC, see `irmeta.catalog`.
    track : str or iterable of str, optional
        Only these tracks of the store.
    catalog : mapping, optional
        Track of the catalogue by track of the store, as ``{"robust": "trec12/robust"}``. By default
        the track of the same name (``trec12-robust``), or the only one that lists at least half of
        the systems.
    columns : mapping or sequence of str, optional
        Columns of `published` by what they hold (track, system, query, measure, value, evaluator),
        as ``{"system": "run"}`` or ``"system=run"``: see `ReadPolicy`.
    workers : int, optional
        Number of threads, default the usable cores. No value depends on it.
    progress : bool or callable, optional
        See `read`.
    **choices
        Fields of `EvalPolicy` under which all values are computed first.

    Returns
    -------
    Verification

    Raises
    ------
    UsageError
        If a track is unknown, the file is missing or lacks a column, or no published value is of a
        system of the store.
    DataError
        If a line of the file cannot be read.

    Notes
    -----
    A value is reproduced if it differs by at most half a unit of its last digit, and 1e-9. The
    number of digits is the largest of its column (evaluator and measure, means and values per query
    apart), since programs drop zeros at the end. Names of systems match if they are equal, or else
    without the prefix ``input.`` and regardless of case, where that is unambiguous.

    A value that differs is computed in other ways, in this order: other tie orders, means over
    other queries, other qrels sets, other least relevant grades, other gains, stopping
    probabilities, search lengths of docs not retrieved, forms of infNDCG and divisors (``gain``,
    ``stop``, ``unretrieved``, ``form`` and ``norm``), lists cut at 1000 and 100 docs, the other
    meaning of negative grades, other definitions of bpref, other cutoffs, the mean of rounded
    values, the mean without one query, and its own digits where it has fewer than its column. The
    first that reproduces the value is its reason; the value still differs. What concerns a whole
    column, such as a cutoff or a gain, must reproduce at least half of its values that differ. A
    tie order must reproduce another value of the column.

    Examples
    --------
    >>> table = pl.DataFrame({"system": ["aldBM25"] * 2, "measure": ["map", "P_5"],
    ...                       "value": ["0.2844", "0.5280"]})
    >>> irmeta.verify(store, table, track="news").values["reason"].to_list()
    [None, 'measured at cutoff 10']
    """
    store = Store(store) if isinstance(store, AnyLocation) else store
    policy = EvalPolicy(**store.merged(choices))
    texts = ReadPolicy(columns=cast(Any, columns)).columns
    if texts and published is None:
        raise UsageError("`columns=` is for `published=`.")
    return verify_tracks(store.reader, published, track, catalog or {}, policy, workers, texts)
