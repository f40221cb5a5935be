"""`Store.stability`: how results depend on cutoffs and on where lists end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
import polars as pl

from irmeta.api.opened_store import OpenedStore
from irmeta.errors import check_choice, check_whole
from irmeta.measures.curve import stored_paired_curves, truncation_effects
from irmeta.measures.evaluate import relevant_in_set
from irmeta.measures.names import parse_call
from irmeta.policy_keywords import EvalChoices
from irmeta.progress import Progress, reported, shows_progress
from irmeta.schema import result_tables
from irmeta.stats.correlation import Method
from irmeta.stats.correlation import volatility as stats_volatility
from irmeta.store.scan import Tracks, tracks_of

VOLATILITY = result_tables.VOLATILITY.wide()


class StoreStability:
    """How orderings depend on cutoffs, and scores on the ends of lists."""

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    @shows_progress("Evaluating")
    def volatility(
        self,
        measure: str,
        other: str | None = None,
        *,
        ks: Iterable[int] = range(1, 51),
        method: Method = "tau-b",
        systems: str = "contributors",
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Correlate the orderings of systems by a measure at all pairs of cutoffs.

        A measure whose orderings correlate at all depths beyond some cutoff can be evaluated at any
        of them; where they do not, conclusions depend on the depth.

        Parameters
        ----------
        measure : str
            Name without a cutoff, as in `Store.curve`.
        other : str, optional
            A second measure, whose cutoffs are `k_b`; default the same measure.
        ks : iterable of int, default range(1, 51)
            Cutoffs, ascending.
        method : str, default 'tau-b'
            As for `irmeta.stats.correlate`.
        systems : {'contributors', 'all'}, default 'contributors'
            Systems to order: those that contributed to the pool (all, if that is unknown), or all.
        track : str or iterable of str, optional
            Only these tracks.
        workers : int, optional
            Number of threads, default the usable cores. No value depends on it.
        progress : bool or callable, optional
            See `irmeta.read`.
        **choices
            Fields of `EvalPolicy`.

        Returns
        -------
        DataFrame
            track, depth (`pool_depth`; null: all judgments), measure_a, measure_b, k_a, k_b,
            method, value (NaN where an ordering ties all systems), queries (those where both are
            defined, over which both means are).

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
        >>> found = store.stability.volatility("AP", ks=[5, 10], track="news")
        >>> found.select("k_a", "k_b", "value").row(1)
        (5, 10, 0.980952380952381)
        """
        check_choice("systems", systems, ("contributors", "all"))
        cutoffs, policy = list(ks), self._store.policy_with(choices)
        names = [measure] if other is None else [measure, other]
        frames = [VOLATILITY.empty()]
        number = len(tracks_of(self._reader, track))
        for opened in reported(self._store.each(track, policy), number, "tracks"):
            curves = stored_paired_curves(opened, names, cutoffs, systems == "all", workers)
            same = other is None and curves.a.ndim == 2
            values = stats_volatility(curves.a, None if same else curves.b, method)
            first, second = (axis.ravel() for axis in np.indices(values.shape))
            frames.append(
                VOLATILITY.frame(
                    {
                        "track": opened.name,
                        "depth": policy.pool_depth,
                        "measure_a": curves.measures[0],
                        "measure_b": curves.measures[1],
                        "k_a": np.array(cutoffs)[first],
                        "k_b": np.array(cutoffs)[second],
                        "method": method,
                        "value": values.ravel(),
                        "queries": curves.queries.ravel(),
                    }
                )
            )
        return pl.concat(frames)

    @shows_progress("Evaluating")
    def truncation(
        self,
        measures: str | Iterable[str] = "default",
        *,
        track: Tracks = None,
        docs: int = 1,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Count the lists whose score changes as non-relevant docs at their end are cut or added.

        Most measures do not depend on such docs. A measure whose scores rise with fewer or with
        more of them rewards where a list ends: `irmeta.measure_properties` tells which do at all.

        Parameters
        ----------
        measures, track, workers, progress, **choices
            See `Store.evaluate`, which also describes errors.
        docs : int
            Number of docs added to each list, but none below the deepest rank of the track. They
            are unjudged.

        Returns
        -------
        DataFrame
            One row per track, system and measure: lists (of judged queries, with a value), and
            shares of these lists. better_cut, worse_cut: of better or worse score by above 1e-12 if
            they end at the last relevant doc (lists without one at the first doc). better_padded,
            worse_padded: the same with docs added. NaN: no list.

        Raises
        ------
        UsageError
            If a measure reads what is unknown of changed lists, such as AvgSL and TSL.

        References
        ----------
        .. [1] Albahem, A., Spina, D., Scholer, F., Moffat, A. and Cavedon, L. (2018). Desirable
           properties for diversity and truncated effectiveness metrics.
           doi:10.1145/3291992.3291996, Eq. 10

        Examples
        --------
        >>> frame = store.stability.truncation("AP,SetP", track="news")
        >>> frame.select("measure", "lists", "better_cut", "worse_padded").rows()[:2]
        [('AP', 25, 0.0, 0.0), ('SetP', 25, 0.96, 0.0)]
        """
        check_whole("docs", docs)
        specs, policy = parse_call(measures, self._store.merged(choices))
        return pl.concat(
            truncation_effects(opened, relevant_in_set(opened, specs), docs, workers)
            for opened in self._store.each(track, policy)
        )
