"""The part of `Store` that asks how results depend on the pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
import polars as pl

from irmeta.api.per_doc_tables import PerDocTables
from irmeta.api.stored_tables import EvalChoices
from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.measures.evaluate import warn_above_highest_grade
from irmeta.measures.names import parse_call
from irmeta.measures.paired_curves import stored_paired_curves
from irmeta.measures.reduced_pools import complete_depth, parts_of, reduced_pools
from irmeta.policies import EvalPolicy
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.needs import Need, needs_of
from irmeta.rankings.track_facts import track_facts
from irmeta.stats.correlation import Method
from irmeta.stats.leave_out import left_out_rows
from irmeta.stats.volatility_matrix import volatility as stats_volatility
from irmeta.store.scan import Tracks, tracks_of, undisturbed

LEAVE_OUT: dict[str, type[pl.DataType]] = {
    "track": pl.String, "level": pl.String, "left_out": pl.String, "system": pl.String,
    "measure": pl.String, "judgments": pl.String, "depth": pl.Int64, "k": pl.Int64,
    "judged_lost": pl.Int64, "relevant_lost": pl.Int64, "value": pl.Float64,
    "value_left_out": pl.Float64, "delta_percent": pl.Float64, "rank": pl.Int64,
    "rank_left_out": pl.Int64,
}  # fmt: skip

ABOUT = ("track", "level", "judgments", "depth")

VOLATILITY: dict[str, type[pl.DataType]] = {
    "track": pl.String, "depth": pl.Int64, "measure_a": pl.String, "measure_b": pl.String,
    "k_a": pl.Int64, "k_b": pl.Int64, "method": pl.String, "value": pl.Float64,
    "queries": pl.Int64,
}  # fmt: skip


class PoolTables(PerDocTables):
    """Scores by the pools that fewer contributors would have made."""

    def leave_out(
        self,
        measures: str | Iterable[str],
        *,
        level: str = "run",
        judgments: str = "pool",
        depth: int | None = None,
        others: str = "rescored",
        track: Tracks = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Score contributing systems by the pool that the other contributors made.

        A collection can judge new systems if its contributors keep their scores and ranks when
        their own contribution is removed from the pool. All systems are scored again by each
        reduced pool.

        Parameters
        ----------
        measures : str or iterable of str
            Names as in `evaluate`, with arithmetic means.
        level : {'run', 'group', 'type'}, default 'run'
            What is left out at once: one run, or all contributing runs of a group or of a type.
        judgments : {'pool', 'all'}, default 'pool'
            ``pool``: judgments as a pool of depth `depth` would have made them. ``all``: all
            judgments, less the docs that only the left-out runs rank within the depth to which the
            pool is complete.
        depth : int, optional
            Depth of the pool; default the greatest depth to which the pools of all queries are
            complete.
        others : {'rescored', 'original'}, default 'rescored'
            Means of the other systems when the new ranks are determined: by the reduced pool, or
            by the whole pool.
        track : str or iterable of str, optional
            Only these tracks.
        workers : int, optional
            Number of threads, default the usable cores. No value depends on it.
        **choices
            Fields of `EvalPolicy`. Lu, Moffat and Culpepper use ``tie_order="score-file"``.

        Returns
        -------
        DataFrame
            One row per track, left-out part, system of that part and measure: track, level,
            left_out, system, measure, judgments, depth (null: all judgments), k (null: no cutoff),
            judged_lost and relevant_lost (docs, over all queries), value and value_left_out
            (means), delta_percent (NaN where `value` is 0), rank and rank_left_out (among the
            contributors; equal means share the better rank; null: no mean).

        Raises
        ------
        MeasureError
            If a measure is unknown or is not averaged arithmetically.
        UsageError
            If the groups or types are not stated, a part is the whole pool, or the pool of a query
            is complete at no depth and no `depth` is given.

        Notes
        -----
        If a track does not state which systems contributed, all systems are contributors, and the
        result says what would have been if the runs at hand had made the pool.

        References
        ----------
        .. [1] Lu, Moffat and Culpepper (2016), Table 5. doi:10.1007/s10791-016-9282-6
        .. [2] Zobel (1998). How reliable are the results of large-scale information retrieval
           experiments? doi:10.1145/290941.291014

        Examples
        --------
        >>> lost = store.leave_out("AP@10", track="news", depth=10)
        >>> lost.select("left_out", "value", "value_left_out", "rank", "rank_left_out").row(0)
        ('aldBM25', 0.2075554034734946, 0.19989922126866572, 8, 8)
        """
        check_choice("judgments", judgments, ("pool", "all"))
        check_choice("others", others, ("rescored", "original"))
        if judgments == "all" and depth is not None:
            raise UsageError("`depth=` is for `judgments='pool'`.")
        if depth is not None:
            check_whole("depth", depth)
        specs, policy = parse_call(measures, self.merged(choices))
        frames = [pl.DataFrame(schema=LEAVE_OUT)]
        for name in tracks_of(self.reader, track):
            facts = track_facts(self.reader, name, policy.qrels)
            parts, deep = parts_of(facts, level), depth
            if judgments == "pool" and depth is None:
                deep = complete_depth(self.reader, name, policy)
                if deep == 0:
                    raise UsageError(
                        f"track {name!r}: a pool is complete at no depth; give `depth=`."
                    )
            needs: set[Need] = {*needs_of(specs), "pool"}
            with undisturbed(self.reader, name):
                views = list(judged_ranks(self.reader, name, policy, needs=needs))
            pools = reduced_pools(views, specs, policy, parts, deep, workers)
            whole = next(pools)
            warn_above_highest_grade(self.reader, name, specs, policy)
            rows = pl.DataFrame(
                [row for pool in pools for row in left_out_rows(whole, pool, others)],
                schema={n: LEAVE_OUT[n] for n in LEAVE_OUT if n not in ABOUT},
            )
            about = {"track": name, "level": level, "judgments": judgments, "depth": deep}
            constant = {n: pl.lit(value, LEAVE_OUT[n]) for n, value in about.items()}
            frames.append(rows.with_columns(**constant).select(*LEAVE_OUT))
        return pl.concat(frames)

    def volatility(
        self,
        measure: str,
        other: str | None = None,
        *,
        ks: Iterable[int] = range(1, 51),
        depth: int | None = None,
        method: Method = "tau-b",
        systems: str = "contributors",
        track: Tracks = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Correlate the orderings of systems by a measure at all pairs of cutoffs.

        A measure whose orderings correlate at all depths beyond some cutoff can be evaluated at any
        of them; where they do not, conclusions depend on the depth.

        Parameters
        ----------
        measure : str
            Name without a cutoff, as in `curve`.
        other : str, optional
            A second measure, whose cutoffs are `k_b`; default the same measure.
        ks : iterable of int, default range(1, 51)
            Cutoffs, ascending.
        depth : int, optional
            Depth of the pool that judgments are cut to; default all judgments.
        method : str, default 'tau-b'
            As for `irmeta.stats.correlate`.
        systems : {'contributors', 'all'}, default 'contributors'
            Systems to order: those that contributed to the pool (all, if that is unknown), or all.
        track : str or iterable of str, optional
            Only these tracks.
        workers : int, optional
            Number of threads, default the usable cores. No value depends on it.
        **choices
            Fields of `EvalPolicy`.

        Returns
        -------
        DataFrame
            track, depth (null: all judgments), measure_a, measure_b, k_a, k_b, method, value (NaN
            where an ordering ties all systems), queries (those where both are defined, over which
            both means are).

        Raises
        ------
        MeasureError
            If a measure is unknown or has no cutoff.
        UsageError
            If an argument is not among its choices.

        References
        ----------
        .. [1] Lu, Moffat and Culpepper (2016), Section 3 and Figures 5 to 7.
           doi:10.1007/s10791-016-9282-6

        Examples
        --------
        >>> store.volatility("AP", ks=[5, 10], track="news").select("k_a", "k_b", "value").row(1)
        (5, 10, 0.980952380952381)
        """
        check_choice("systems", systems, ("contributors", "all"))
        cutoffs, policy = list(ks), EvalPolicy(**self.merged(choices))
        names = [measure] if other is None else [measure, other]
        frames = [pl.DataFrame(schema=VOLATILITY)]
        for name in tracks_of(self.reader, track):
            found = stored_paired_curves(
                self.reader, name, names, cutoffs, depth, policy, systems == "all", workers
            )
            same = other is None and found.a.ndim == 2
            values = stats_volatility(found.a, None if same else found.b, method)
            first, second = (axis.ravel() for axis in np.indices(values.shape))
            frames.append(
                pl.DataFrame(
                    {
                        "track": name,
                        "depth": depth,
                        "measure_a": found.measures[0],
                        "measure_b": found.measures[1],
                        "k_a": np.array(cutoffs)[first],
                        "k_b": np.array(cutoffs)[second],
                        "method": method,
                        "value": values.ravel(),
                        "queries": found.queries.ravel(),
                    },
                    schema=VOLATILITY,
                )
            )
        return pl.concat(frames)
