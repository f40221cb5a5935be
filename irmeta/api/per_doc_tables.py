"""The part of `Store` that computes tables with one row per relevant doc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import polars as pl

from irmeta.api.stored_tables import EvalChoices, StoredTables
from irmeta.errors import check_choice, check_whole
from irmeta.measures.search_length import UNRETRIEVED, lengths_by_doc
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.pool import retrieved_by
from irmeta.results.per_doc import rarity_frame, search_length_table
from irmeta.schema.arrow import as_frame
from irmeta.store.scan import StoreReader, Tracks, tracks_of


class PerDocTables(StoredTables):
    """Search lengths and rarity of the relevant docs, a block of queries at a time."""

    def search_lengths(
        self,
        track: Tracks = None,
        *,
        rel: int = 1,
        unretrieved: str = "irrel",
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the search length of each relevant doc in each system.

        Parameters
        ----------
        track, workers, **choices
            See `evaluate`, which also describes errors.
        rel : int, default 1
            Smallest relevant grade.
        unretrieved : {'irrel', 'floor', 'irrel+1', 'depth'}, default 'irrel'
            Search length of a doc that is not retrieved: see measure ASL.

        Returns
        -------
        DataFrame
            track, system, query, doc, grade, rank (null: not retrieved), search_length; sorted by
            track, query, system, doc.

        References
        ----------
        .. [1] Alex, Hall and Metzler (2022). Atomized search length, Eqs. 2 and 3.

        Examples
        --------
        >>> store.search_lengths("news").select("doc", "rank", "search_length").row(2)
        ('NW19990114-0039', 21, 9.0)
        """
        policy = EvalPolicy(**choices)
        check_choice("unretrieved", unretrieved, UNRETRIEVED)
        check_whole("rel", rel)

        def rows(view: JudgedRanks) -> pl.DataFrame:
            return as_frame(search_length_table(view, rel, lengths_by_doc(view, rel, unretrieved)))

        return _joined(rows, self.reader, track, policy, workers)

    def rarity(
        self,
        track: Tracks = None,
        *,
        depth: int = 100,
        rel: int = 1,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Count the systems that retrieve each relevant doc at a rank up to `depth`.

        Parameters
        ----------
        track, workers, **choices
            See `evaluate`, which also describes errors.
        depth : int, default 100
            Deepest rank that counts.
        rel : int, default 1
            Smallest relevant grade.

        Returns
        -------
        DataFrame
            track, query, doc, grade, retrieved_by, systems, rarity (1 - retrieved_by / systems).

        Examples
        --------
        >>> store.rarity("news").select("retrieved_by", "systems", "rarity").row(0)
        (10, 20, 0.5)
        """
        policy = EvalPolicy(**choices)
        check_whole("depth", depth)
        check_whole("rel", rel)

        def rows(view: JudgedRanks) -> pl.DataFrame:
            return rarity_frame(view, rel, retrieved_by(view, depth, rel))

        return _joined(rows, self.reader, track, policy, workers)


def _joined(
    rows: Callable[[JudgedRanks], pl.DataFrame],
    store: StoreReader,
    track: Tracks,
    policy: EvalPolicy,
    workers: int | None,
) -> pl.DataFrame:
    """Concatenate the rows of all blocks."""
    return pl.concat(
        found
        for name in tracks_of(store, track)
        for found in over_blocks(rows, store, name, policy, workers=workers)
    )
