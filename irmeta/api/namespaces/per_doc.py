"""`Store.per_doc`: tables of the relevant docs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import polars as pl

from irmeta.api.opened_store import OpenedStore
from irmeta.errors import UsageError, check_choice, check_positive, check_whole
from irmeta.measures.search_length import UNRETRIEVED, lengths_by_doc
from irmeta.policies import Counted, EvalPolicy, Rarity
from irmeta.policy_keywords import GradedChoices
from irmeta.rankings.holders import RARITIES
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.track_facts import track_facts
from irmeta.results.per_doc import (
    Contributions,
    contributions_frame,
    count_contributions,
    rarity_frame,
    search_length_table,
)
from irmeta.schema.arrow import as_frame
from irmeta.store.scan import StoreReader, Tracks, tracks_of, undisturbed


class StorePerDoc:
    """Tables of the relevant docs of a store.

    The store is read a block of queries at a time.
    """

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    def search_lengths(
        self,
        track: Tracks = None,
        *,
        rel: float = 1,
        unretrieved: str = "irrel",
        workers: int | None = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Compute the search length of each relevant doc in each system.

        Parameters
        ----------
        track, workers, **choices
            See `Store.evaluate`, which also describes errors.
        rel : float, default 1
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
        >>> store.per_doc.search_lengths("news").select("doc", "rank", "search_length").row(2)
        ('NW19990114-0039', 21, 9.0)
        """
        policy = EvalPolicy(**self._store.merged(choices))
        check_choice("unretrieved", unretrieved, UNRETRIEVED)
        rel = check_positive("rel", rel)

        def rows(view: JudgedRanks) -> pl.DataFrame:
            return as_frame(search_length_table(view, rel, lengths_by_doc(view, rel, unretrieved)))

        return _joined(rows, self._reader, track, policy, workers)

    def rarity(
        self,
        track: Tracks = None,
        *,
        rarity_depth: int = 100,
        rel: float = 1,
        counted: Counted = "systems",
        rarity: Rarity = "linear",
        workers: int | None = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Count the systems that retrieve each relevant doc at a rank up to `rarity_depth`.

        Parameters
        ----------
        track, workers, **choices
            See `Store.evaluate`, which also describes errors.
        rarity_depth : int, default 100
            Deepest rank at which a system retrieves a doc.
        rel : float, default 1
            Smallest relevant grade.
        counted : {'systems', 'groups', 'pooled'}, default 'systems'
            What is counted: all systems; groups, which retrieve what one of their systems does (a
            system without a group is a group of its own); systems that contributed to the pool
            (all systems, where this is unknown).
        rarity : {'linear', 'revised', 'idf', 'unique'}, default 'linear'
            Rarity of a doc that S_d of the S counted retrieve: 1 - S_d / S (Eq. 2);
            1 - (S_d - 1) / (S - 1) (Section 5.2); log(S / S_d) / log(S); 1 if S_d = 1, else 0. It
            is 1 for S_d = 0; else 0 for S = 1.

        Returns
        -------
        DataFrame
            track, query, doc, grade, retrieved_by (S_d), systems (S), rarity; sorted by track,
            query, doc.

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023). doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> store.per_doc.rarity("news").select("retrieved_by", "systems", "rarity").row(0)
        (10, 20, 0.5)
        >>> store.per_doc.rarity("news", rarity="revised")["rarity"].round(3)[0]
        0.526
        """
        policy = EvalPolicy(**self._store.merged(choices))
        check_whole("rarity_depth", rarity_depth)
        rel = check_positive("rel", rel)
        check_choice("rarity", rarity, RARITIES)
        if counted == "others":
            raise UsageError(
                "counted = 'others' gives a doc a rarity for each group: the measures have it, as "
                "RareP(counted=others)@100. Choose systems, groups or pooled."
            )
        check_choice("counted", counted, ("systems", "groups", "pooled"))

        def rows(view: JudgedRanks) -> pl.DataFrame:
            return rarity_frame(view, rarity_depth, rel, counted, rarity)

        return _joined(rows, self._reader, track, policy, workers)

    def contributions(
        self,
        track: Tracks = None,
        rarity_depth: int = 100,
        *,
        rel: float = 1,
        workers: int | None = None,
        **choices: Unpack[GradedChoices],
    ) -> pl.DataFrame:
        """Count the relevant docs that each system retrieves, and those that only it retrieves.

        Parameters
        ----------
        track, workers, **choices
            See `Store.evaluate`, which also describes errors.
        rarity_depth : int, default 100
            Deepest rank at which a system retrieves a doc.
        rel : float, default 1
            Smallest relevant grade.

        Returns
        -------
        DataFrame
            One row per track and system: track, system, found (relevant docs that the system
            retrieves, over all queries), unique (of them, docs that no other system retrieves),
            unique_to_group (docs that no system outside its group retrieves; null: the track states
            no groups), share (`found` over the docs that any system retrieves; NaN without such
            docs), mean_rarity (mean of 1 - S_d / S over the docs in `found`, where S_d of S systems
            retrieve a doc; NaN without such docs).

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023), Section 4.6. doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> best = store.per_doc.contributions("news", rarity_depth=20).sort("found")[-1]
        >>> best.select("system", "found", "unique").row(0)
        ('doumMan1', 322, 11)
        """
        policy = EvalPolicy(**self._store.merged(choices))
        check_whole("rarity_depth", rarity_depth)
        rel = check_positive("rel", rel)

        def counts(view: JudgedRanks) -> Contributions:
            return count_contributions(view, rarity_depth, rel)

        found = []
        for name in tracks_of(self._reader, track):
            with undisturbed(self._reader, name):
                blocks = list(over_blocks(counts, self._reader, name, policy, workers=workers))
                facts = track_facts(self._reader, name, policy.qrels)
                found.append(contributions_frame(facts, blocks))
        return pl.concat(found)


def _joined(
    rows: Callable[[JudgedRanks], pl.DataFrame],
    store: StoreReader,
    track: Tracks,
    policy: EvalPolicy,
    workers: int | None,
) -> pl.DataFrame:
    """Concatenate the rows of all blocks."""
    frames = (
        found
        for name in tracks_of(store, track)
        for found in over_blocks(rows, store, name, policy, workers=workers)
    )
    return pl.concat(frames, how="vertical_relaxed")  # grades of a track may be decimal
