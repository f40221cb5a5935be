"""The part of `Store` that asks how scores depend on where lists end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import polars as pl

from irmeta.api.stored_tables import EvalChoices
from irmeta.api.unjudged_tables import UnjudgedTables
from irmeta.errors import check_whole
from irmeta.measures.names import parse_call
from irmeta.measures.truncation_effects import truncation_effects
from irmeta.store.scan import Tracks, tracks_of


class TruncationTables(UnjudgedTables):
    """Effects of non-relevant docs at the end of lists."""

    def truncation(
        self,
        measures: str | Iterable[str] = "default",
        *,
        track: Tracks = None,
        docs: int = 1,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Count the lists whose score changes as non-relevant docs at their end are cut or added.

        Most measures do not depend on such docs. A measure whose scores rise with fewer or with
        more of them rewards where a list ends: `irmeta.measure_properties` tells which do at all.

        Parameters
        ----------
        measures, track, workers, **choices
            See `evaluate`, which also describes errors.
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
        >>> frame = store.truncation("AP,SetP", track="news")
        >>> frame.select("measure", "lists", "better_cut", "worse_padded").rows()[:2]
        [('AP', 25, 0.0, 0.0), ('SetP', 25, 0.96, 0.0)]
        """
        check_whole("docs", docs)
        specs, policy = parse_call(measures, self.merged(choices))
        return pl.concat(
            truncation_effects(self.reader, name, specs, policy, docs, workers)
            for name in tracks_of(self.reader, track)
        )
