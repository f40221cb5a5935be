"""`Store`: what a user holds of a folder of tracks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import polars as pl

from irmeta.api import per_doc_tables
from irmeta.api.track_info import track_info
from irmeta.errors import UsageError
from irmeta.measures.curve import curves
from irmeta.measures.evaluate import evaluate, evaluate_tracks, how_made
from irmeta.measures.explain import Explanation, explain
from irmeta.measures.names import parse_call, parse_measure, split_names
from irmeta.policies import Averaged, EvalPolicy, Negative, TieOrder
from irmeta.rankings.judged import JudgedRanks, Need, check_needs
from irmeta.rankings.load import judged_ranks
from irmeta.results.scores import Scores
from irmeta.store.layout import Layout, store_folder
from irmeta.store.scan import StoreReader, Tracks, lazy, read_table, tracks_of

Measures = str | Iterable[str]


class EvalChoices(TypedDict, total=False):
    """The fields of `EvalPolicy`, as keywords."""

    queries: Averaged
    negative: Negative
    qrels: str | None
    tie_order: TieOrder | None
    pool_order: TieOrder
    pool_depth: int | None
    pool_without: Sequence[str]


class Store:
    """An open store. Nothing is read until a method asks for it.

    Parameters
    ----------
    path
        The store's folder, or that of `reanalyze`'s results, which holds it; or what reads a store
        that lies elsewhere.

    Raises
    ------
    UsageError
        If there is no store, or one that a newer irmeta made.
    """

    def __init__(self, path: str | Path | StoreReader) -> None:
        self.reader = Layout(store_folder(path)) if isinstance(path, str | Path) else path
        self.policy = self.reader.read_policy()

    def __repr__(self) -> str:
        return f"Store({str(self.reader)!r}: {len(self.tracks)} tracks)"

    @property
    def path(self) -> Path:
        """The store's folder.

        Raises
        ------
        UsageError
            If it is in memory.
        """
        if not isinstance(self.reader, Layout):
            raise UsageError(f"{self.reader} was read into memory: irmeta.ingest makes a folder.")
        return self.reader.root

    @property
    def tracks(self) -> list[str]:
        """The names of its complete tracks, sorted."""
        return self.reader.tracks()

    @property
    def fingerprint(self) -> str:
        """A hash of all that the store was made from and how."""
        return self.reader.fingerprint()

    def runs(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the long table: track, query, system, rank, doc, grade, score, position, ..."""
        return lazy(self.reader, "runs", track)

    def qrels(self, track: Tracks = None) -> pl.LazyFrame:
        """All qrels sets: track, set, query, subtopic (null: ad hoc), doc, grade, doc_id."""
        return lazy(self.reader, "qrels", track)

    def docs(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the docs of each query by number: track, query, doc_id, doc."""
        return lazy(self.reader, "docs", track)

    def subtopics(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the described subtopics: track, set, query, subtopic, weight, type."""
        return lazy(self.reader, "subtopics", track)

    def systems(self, track: Tracks = None) -> pl.DataFrame:
        """Return a row for each run file: its facts, notes of reading, why it was skipped."""
        names = tracks_of(self.reader, track)
        frames = [read_table(self.reader, "systems", name) for name in names]
        return pl.concat(frames, how="diagonal")  # tracks of an older irmeta have no tags

    def warnings(self, track: str) -> dict[str, str]:
        """Return what reading a track warned of: by kind, ``names`` and ``qrels``."""
        return self.reader.read_record(track).get("warnings", {})

    @property
    def failures(self) -> dict[str, str]:
        """The tracks that the last ingest could not read, and why."""
        return self.reader.failures()

    def info(self, track: Tracks = None) -> pl.DataFrame:
        """Return a row for each track: systems, skipped_runs, queries, rows, deepest_rank, ..."""
        return track_info(self.reader, self.tracks if track is None else track)

    def views(
        self, track: str, *, needs: Collection[Need] = (), **choices: Unpack[EvalChoices]
    ) -> Iterator[JudgedRanks]:
        """Yield the ranks of the judged docs of a track as arrays, a block of queries at a time.

        `scores_of` computes measures of a view; its methods (`with_pool`, `without_systems`,
        `cut_to`, ...) derive others.

        Parameters
        ----------
        needs
            Arrays that only some measures read: ``ties``, ``pool``, ``retrieved``, ``subtopics``.
        **choices
            As in `evaluate`.

        Raises
        ------
        UsageError
            A track or qrels set that is not there, or subtopics of a track that has none.

        Examples
        --------
        >>> (view,) = store.views("news", needs=["pool"])  # a larger track has several
        >>> irmeta.scores_of(view.with_pool(5), "AP").means()["value"].max()
        0.5709927743319316
        """
        check_needs(needs)
        policy = EvalPolicy(**choices)
        return judged_ranks(self.reader, track, policy, needs=frozenset(needs))

    def scores(
        self,
        measures: Measures = "default",
        *,
        track: str,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> Scores:
        """Compute the values of one track as arrays [measure, query, system]."""
        specs, policy = parse_call(measures, choices)
        return evaluate(self.reader, track, specs, policy, workers)

    def evaluate(
        self,
        measures: Measures = "default",
        *,
        track: Tracks = None,
        system: str | Sequence[str] | None = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Values per query.

        Parameters
        ----------
        measures
            Names (`AP`, `P@20`, `ASL@g10`), a comma-separated text, or a preset (`default`).
        track, system
            Only this track or system, or these.
        workers
            Threads over blocks of queries, default the usable cores. No value depends on it.
        **choices
            queries, negative, qrels, tie_order: see `EvalPolicy`.

        Returns
        -------
        DataFrame
            track, system, query, measure, value, sorted so; NaN: undefined.

        Raises
        ------
        MeasureError
            A measure that is not known.
        UsageError
            A track, system or qrels set that is not there.
        """
        specs, policy = parse_call(measures, choices)
        found = evaluate_tracks(self.reader, track, system, specs, policy, workers)
        return pl.concat([scores.per_query() for scores in found])

    def means(
        self,
        measures: Measures = "default",
        *,
        track: Tracks = None,
        system: str | Sequence[str] | None = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Means over queries; parameters and errors as `evaluate`.

        Returns
        -------
        DataFrame
            track, system, measure, value, queries (how many it averages), no_list (for how many of
            them the system has no list), lists_without_nonrelevant (search lengths: lists without a
            non-relevant doc).
        """
        specs, policy = parse_call(measures, choices)
        found = evaluate_tracks(self.reader, track, system, specs, policy, workers)
        return pl.concat([scores.means() for scores in found])

    def curve(
        self,
        measures: Measures,
        ks: int | Iterable[int],
        ds: int | Iterable[int] | None = None,
        *,
        track: Tracks = None,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Means at every cutoff, and under pools of several depths, in one pass.

        Parameters
        ----------
        measures
            Names without a cutoff (`AP`, `nDCG(gain=exp)`).
        ks
            Cutoffs, ascending: ``range(1, 1001)``.
        ds
            Pool depths, ascending. For each of them a judged doc that no contributing system
            ranks so high is unjudged. None: all judgments. Which systems contribute is in
            `provenance` of a measure that asks for the pool, such as ``AP(norm=pool)@10``.
        track
            Only this track, or these.
        workers
            Threads over blocks of queries, default the usable cores. No value depends on it.
        **choices
            See `EvalPolicy`; `pool_order` is how contributing systems' lists are ordered.

        Returns
        -------
        DataFrame
            track, system, measure, d (null: all judgments), k, value, queries.

        Raises
        ------
        MeasureError
            A measure that is not known, has no cutoff, or is not averaged arithmetically.
        UsageError
            Cutoffs or depths that do not ascend, or a track or qrels set that is not there.
        """
        given = [measures] if isinstance(measures, str) else list(measures)
        names = [name for text in given for name in split_names(text)]
        at, depths = _several(ks), None if ds is None else _several(ds)
        policy = EvalPolicy(**choices)
        return pl.concat(
            found.frame()
            for name in tracks_of(self.reader, track)
            for found in curves(self.reader, name, names, at, depths, policy, workers)
        )

    def search_lengths(
        self,
        track: Tracks = None,
        *,
        rel: int = 1,
        unretrieved: str = "irrel",
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute the search length of each relevant doc in each system (paper 1, Eqs. 2 and 3).

        `workers` and errors as `evaluate`; another value of the others is a UsageError too.

        Parameters
        ----------
        rel
            The least grade that is relevant.
        unretrieved
            irrel, floor, irrel+1 or depth: see measure ASL.

        Returns
        -------
        DataFrame
            track, system, query, doc, grade, rank (null: not retrieved), search_length; sorted by
            track, query, system, doc.
        """
        policy = EvalPolicy(**choices)
        return per_doc_tables.search_lengths(self.reader, track, rel, unretrieved, policy, workers)

    def rarity(
        self,
        track: Tracks = None,
        *,
        depth: int = 100,
        rel: int = 1,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """How many systems retrieve each relevant doc at a rank up to `depth`.

        `workers` and errors as `evaluate`; `depth` and `rel` are whole numbers of at least 1.

        Parameters
        ----------
        rel
            The least grade that is relevant.

        Returns
        -------
        DataFrame
            track, query, doc, grade, retrieved_by, systems, rarity (1 - retrieved_by / systems).
        """
        return per_doc_tables.rarity(self.reader, track, depth, rel, EvalPolicy(**choices), workers)

    def explain(
        self,
        measure: str,
        *,
        system: str,
        query: str | int,
        track: str | None = None,
        **choices: Unpack[EvalChoices],
    ) -> Explanation:
        """Show the arithmetic behind one value: ranks, ties, grades, policies.

        `track` may be left out where the store has just one.
        """
        if track is None:
            tracks = tracks_of(self.reader, None)
            if len(tracks) > 1:
                raise UsageError(f"say which track: {', '.join(tracks)}.")
            track = tracks[0]
        spec = parse_measure(measure)
        return explain(self.reader, track, spec, system, str(query), EvalPolicy(**choices))

    def provenance(
        self, measures: Measures, *, track: Tracks = None, **choices: Unpack[EvalChoices]
    ) -> dict[str, Any]:
        """Return the provenance of values of this store, or of one of its tracks."""
        specs, policy = parse_call(measures, choices)
        return how_made(self.reader, specs, policy, tracks_of(self.reader, track))


def _several(numbers: int | Iterable[int]) -> list[int]:
    return list(numbers) if isinstance(numbers, Iterable) else [numbers]
