"""Judges in tables of values: by system, query and measure, without runs and qrels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, first_few
from irmeta.locations import local, named_file
from irmeta.phrases import agreeing, count, listed
from irmeta.policies import columns_by_key
from irmeta.results.matrix import Matrix, holds_values, read_matrices
from irmeta.stats import judged_orders as orders
from irmeta.stats.judged_orders import split_taus
from irmeta.stats.prediction_powered import LEAST_LABELLED, corrected_means
from irmeta.stats.tables import directed, is_measure, spellings
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.judges import compute as of_labels
from irmeta.studies.original.judges.compute import Row, correlated, splits_of, spread
from irmeta.studies.original.judges.judged_track import (
    Judged,
    MeasureScores,
    Sides,
    TrackScores,
)
from irmeta.studies.original.judges.replicates import replicate_tables
from irmeta.studies.original.judges.study import MEASURES, checked_measures
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.studies.original.judges.verdicts import (
    LEAST_QUERIES,
    OTHER_QUERIES,
    UNKNOWN,
    category_means,
    category_text,
    read_categories,
    verdicts,
)

OF_VALUES = (
    *("reference", "qrels", "judges", "categories", "missing", "measures", "tests", "alpha"),
    *("resamples", "splits", "margin", "seed", "columns"),
)
"""Options of a run without a store; the others concern labels, or runs and qrels of a store."""
NO_STORE = (
    "name the store whose qrels sets are compared; or, without a store, files of values by system "
    "and query: `reference='nist.tot'` and `judges='gpt4=gpt4.tot'`."
)
MOST_QUERIES = 10
"""Queries that a note names."""
DEFAULTS = checked_measures(MEASURES)
"""The default measures by their canonical names: all that the files hold."""
Values = dict[str, Matrix]
"""Values of one table on one track, by canonical name of the measure."""


@dataclass(frozen=True)
class ScoreTable:
    """Values of the systems of a track by one judge."""

    name: str
    file: str  # name of the file, without its folder
    values: Values  # on the queries that the table judged
    not_judged: tuple[str, ...]  # queries on which all systems have 0 by all measures

    @classmethod
    def of(cls, name: str, file: str, values: Values) -> ScoreTable:
        """Leave out the queries on which all systems have 0, which the judge did not judge."""
        known, nonzero = set[str](), set[str]()
        for matrix in values.values():
            known.update(matrix.queries)
            is_nonzero = (np.nan_to_num(matrix.values) != 0.0).any(axis=1)
            nonzero.update(
                q for q, used in zip(matrix.queries, is_nonzero, strict=True)
                if used or matrix.direction < 0
            )  # fmt: skip
        cut = {
            measure: matrix.only_queries(
                np.flatnonzero([query in nonzero for query in matrix.queries])
            )
            for measure, matrix in values.items()
        }
        return cls(name, file, cut, tuple(sorted(known - nonzero)))

    @property
    def systems(self) -> set[str]:
        """The systems with a value."""
        return {system for matrix in self.values.values() for system in matrix.systems}

    @property
    def queries(self) -> set[str]:
        """The queries that the table judged."""
        return {query for matrix in self.values.values() for query in matrix.queries}


@dataclass(frozen=True)
class FileTrack:
    """A track of tables of values, the reference first; it takes notes as a `TrackView` does."""

    name: str
    tables: tuple[ScoreTable, ...]
    notes: list[str]

    def note(self, text: str) -> None:
        """Add a note on the track: a sentence without a full stop."""
        self.notes.append(text)

    def leave_out(self, reason: str) -> None:
        """Refuse the track, which is all that the files hold."""
        raise UsageError(f"{self.name}: {reason}.")

    def values(self) -> list[Matrix]:
        """Return the values of the reference."""
        return [replace(m, track=self.name) for m in self.tables[0].values.values()]

    def studied(self) -> Row:
        """Return the track's row of the table `studied_tracks`; there are no docs."""
        reference = self.tables[0]
        return {
            "track": self.name,
            "systems": len(reference.systems),
            "queries": len(reference.queries),
            "relevant": 0,
            "deepest_rank": 0,
            "highest_grade": 0,
            "used": True,
            "left_out": None,
            "notes": "; ".join(self.notes) or None,
            "saturated": None,
            "not_compared": None,
        }


def file_tracks(options: Options) -> dict[str, FileTrack]:
    """Read the tables of values that options name, by track of the reference's file.

    Raises UsageError without a reference and a judge, for a file that holds no values, and for
    options that concern labels or a store.
    """
    paths = [named_file(judge) for judge in options.judges]
    if options.reference is None or not paths:
        raise UsageError(NO_STORE)
    for name in options.changed():
        if name not in OF_VALUES:
            raise UsageError(f"{name}: is for labels, runs and qrels; files of values have none.")
    files = {"reference": options.reference}
    for name, path in paths:
        judge = name or Path(path).name
        if judge in files:
            raise UsageError(f"{judge!r} names two tables of values: give one another name.")
        files[judge] = path
    read = {name: _read(path, options.columns) for name, path in files.items()}
    _, *judges = files
    tracks, without_judge = dict[str, FileTrack](), list[str]()
    for track, values in read["reference"].items():
        tables = [ScoreTable.of("reference", Path(files["reference"]).name, values)]
        for judge in judges:
            of_track = read[judge].get(track)
            if of_track is None and len(read[judge]) == len(read["reference"]) == 1:
                (of_track,) = read[judge].values()  # one table each, and only one names its track
            if of_track is not None:
                tables.append(ScoreTable.of(judge, Path(files[judge]).name, of_track))
        name = track or Path(files["reference"]).name.partition(".")[0]
        lacking = [judge for judge in judges if judge not in {table.name for table in tables}]
        if len(tables) == 1:
            without_judge.append(name)
            continue
        notes = [f"no value of the track by {listed(lacking)}"] if lacking else []
        tracks[name] = FileTrack(name, tuple(tables), notes)
    for left in tracks.values() if without_judge else ():
        left.note(f"tracks of the reference without a judge are left out: {listed(without_judge)}")
    if not tracks:
        raise UsageError(
            f"no judge has a track of the reference: {first_few(list(read['reference']), '')}."
        )
    return tracks


def _read(path: str, columns: tuple[str, ...]) -> dict[str, Values]:
    """Return the values of a file by track and canonical name of the measure."""
    file = local(path, "tables of values of judges are read from local files.")
    if not file.is_file():
        raise UsageError(f"no file {path}: {NO_STORE}")
    stat = file.stat()
    return _read_version(file, columns, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=32)
def _read_version(
    file: Path, columns: tuple[str, ...], size: int, changed: int
) -> dict[str, Values]:
    """Read a file once: it is read to plan a run, and again for each track."""
    if not holds_values(file, is_measure, columns):
        try:
            matrices = read_matrices(file, is_measure=is_measure, columns=columns_by_key(columns))
        except DataError as error:
            if columns:
                raise
            raise UsageError(
                f"{file} holds no values by system, query and measure ({error}): {NO_STORE}"
            ) from None
        raise UsageError(
            f"{file} has a column for each of {count(len(matrices[0].systems), 'system')}, so that "
            "its measure is unknown: write the columns system,query,measure,value."
        )
    tracks = dict[str, Values]()
    read = read_matrices(file, is_measure=is_measure, columns=columns_by_key(columns))
    for matrix in read:
        canonical = spellings(matrix.measure)
        measure = canonical[0] if len(canonical) == 1 else matrix.measure
        values = tracks.setdefault(matrix.track, {})
        if measure in values:
            raise UsageError(
                f"{file} has {measure} twice ({matrix.measure}), or by several qrels sets: write a "
                "file for each."
            )
        values[measure] = directed(replace(matrix, measure=measure))
    return tracks


@dataclass(frozen=True)
class JudgedTables(Judged):
    """The tables of a track, and their values on common systems."""

    track: FileTrack
    options: Options

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges."""
        return tuple(table.name for table in self.track.tables[1:])

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems of all tables or, if missing ones count, of any table."""
        sets = [table.systems for table in self.track.tables]
        is_common = self.options.missing == "common"
        return tuple(sorted(set.intersection(*sets) if is_common else set.union(*sets)))

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures of the reference and of a judge, of those asked for."""
        reference, *judges = self.track.tables
        shared = [m for m in reference.values if any(m in judge.values for judge in judges)]
        asked = self.options.measures
        if asked != DEFAULTS and (absent := [m for m in asked if m not in shared]):
            raise UsageError(
                f"no value of {listed(absent)} by both the reference and a judge; both have "
                f"{listed(shared) if shared else 'no measure'}."
            )
        first = [m for m in asked if m in shared]
        return tuple(first if asked != DEFAULTS else dict.fromkeys([*first, *shared]))

    @cached_property
    def completed(self) -> dict[tuple[str, str], Matrix]:
        """Values by table and measure: of all systems, on the queries on which all have one."""
        return {
            (table.name, measure): self._complete(table, table.values[measure])
            for table in self.track.tables
            for measure in self.measures
            if measure in table.values
        }

    def _complete(self, table: ScoreTable, matrix: Matrix) -> Matrix:
        present = [system for system in self.systems if system in matrix.systems]
        values = np.full((len(matrix.queries), len(self.systems)), np.nan)
        places = [self.systems.index(system) for system in present]
        chosen = matrix.only_systems(present)
        values[:, places] = chosen.values
        units = np.zeros(len(self.systems))
        units[places] = chosen.units or 0.0
        every = replace(
            chosen, values=values, systems=self.systems, units=tuple(units), no_list=None
        )
        try:
            return every.with_missing(self.options.missing).complete()
        except UsageError as error:
            raise UsageError(f"{table.name}: {error}") from None

    @cached_property
    def scores(self) -> TrackScores:
        """Values by each measure of the reference and of each judge, on the queries of both."""
        by_queries = dict[tuple[str, tuple[str, ...]], Matrix]()

        def sides(measure: str, judge: str) -> Sides:
            reference, judged = self.completed["reference", measure], self.completed[judge, measure]
            in_judge = set(judged.queries)
            shared = tuple(query for query in reference.queries if query in in_judge)
            key = measure, shared
            if key not in by_queries:
                by_queries[key] = reference.only_queries(shared)
            return Sides(judge, "all", by_queries[key], judged.only_queries(shared), 0)

        measures = tuple(
            MeasureScores(
                measure,
                {j: sides(measure, j) for j in self.judges if (j, measure) in self.completed},
                {},
            )
            for measure in self.measures
        )
        return TrackScores(self.systems, measures, {})

    @property
    def apart(self) -> Iterator[tuple[str, str, Matrix, Matrix]]:
        """Judge, measure and values of the reference and of a judge without a common query."""
        for scores in self.scores.measures:
            for judge, sides in scores.every.items():
                if not sides.queries:
                    yield (
                        judge,
                        scores.measure,
                        self.completed["reference", scores.measure],
                        self.completed[judge, scores.measure],
                    )

    def note_gaps(self) -> None:
        """State in notes what the tables lack, and what became of it."""
        reference, *judges = self.track.tables
        every = set.union(*(table.systems for table in self.track.tables))
        became = "count 0" if self.options.missing == "zero" else "are left out"
        for table in self.track.tables:
            if absent := sorted(every - table.systems):
                self.track.note(
                    f"{table.name} has no value of {count(len(absent), 'system')}, which {became} "
                    f"(missing = {self.options.missing}): {listed(absent, MOST_QUERIES)}"
                )
            gaps = [
                f"{measure} {count(int(matrix.missing.any(axis=1).sum()), 'query')}"
                for measure, matrix in table.values.items()
                if measure in self.measures and matrix.missing.any()
            ]
            if gaps:
                self.track.note(
                    f"some systems of {table.name} lack values on queries, which {became} "
                    f"(missing = {self.options.missing}): {listed(gaps)}"
                )
            if table.not_judged:
                number = count(len(table.not_judged), "query")
                shared = len(reference.queries & set(table.not_judged))
                of_reference = f", {shared:,} of the reference's," if shared else ","
                self.track.note(
                    f"all systems have 0 by {table.name} on {number}{of_reference} taken as not "
                    f"judged: {listed(table.not_judged, MOST_QUERIES)}"
                )
        for judge in judges:
            shared = len(reference.queries & judge.queries)
            if not shared:
                self.track.note(
                    f"{judge.name}: {OTHER_QUERIES} (reference {len(reference.queries):,} queries, "
                    f"{judge.name} {len(judge.queries):,}): no verdict"
                )
            elif reference.queries != judge.queries:
                self.track.note(
                    f"{judge.name}: {shared:,} shared "
                    f"{agreeing(shared, 'query', 'queries')}, of {len(reference.queries):,} of the "
                    f"reference and {len(judge.queries):,} of {judge.name}"
                )


def compute(track: TrackView | FileTrack, options: Options) -> TableRows:
    """Yield the tables of one track: of a store, or of tables of values."""
    if isinstance(track, TrackView):
        yield from of_labels.compute(track, options)
        return
    judged = JudgedTables(track, options)
    if len(judged.systems) < 2:
        track.leave_out(f"{count(len(judged.systems), 'system')} in all tables of values")
    judged.note_gaps()
    yield "score_tables", list(score_tables(judged))
    fits = of_labels.win_rate_fits(judged)
    rows = of_labels.rows_of_values(judged, fits)
    yield from rows.items()
    systems = pl.Series("system", judged.systems, dtype=pl.String)
    facts = systems.to_frame().with_columns(
        pl.lit(None, pl.String).alias(fact) for fact in of_labels.FACTS
    )
    columns = dict.fromkeys(("judge", "measure", "system"), pl.String)
    untested = pl.DataFrame(
        schema=columns | dict.fromkeys(of_labels.TESTED, pl.Float64) | {"flagged": pl.Boolean}
    )
    frames = [
        *of_labels.systems_tables(judged, untested, facts, fits),
        *of_labels.mixture_tables(judged),
        *of_labels.corrected_tables(judged),
    ]
    yield from frames
    yield from ((name, []) for name in ("systems", "mixtures", "least_labelled", "corrected"))
    yield "other_queries", list(other_queries(judged))
    yield "corrected_means", list(means_of_few(judged))
    categories = read_categories(options.categories, judged.judges, track.note)
    of_judges = {
        judge: {"category": category_text(categories.get(judge)), **value_facts(judged, judge)}
        for judge in judged.judges
    }
    yield "verdicts", list(verdicts(judged, of_judges, rows, frames))
    yield from category_means(categories, rows["leaderboards"])
    yield from replicate_tables(judged, categories, rows, of_judges, track.note)


def score_tables(judged: JudgedTables) -> Iterator[Row]:
    """Yield the rows of the table `score_tables`, the reference first."""
    reference = judged.track.tables[0]
    for table in judged.track.tables:
        yield {
            "judge": table.name,
            "is_reference": table is reference,
            "file": table.file,
            "measures": ", ".join(table.values),
            "systems": len(table.systems),
            "queries": len(table.queries),
            "shared": len(table.queries & reference.queries),
            "not_judged": len(table.not_judged),
            "queries_not_judged": " ".join(table.not_judged),
        }


def value_facts(judged: JudgedTables, judge: str) -> Row:
    """Return the number of queries by which a judge is compared, and what limits a verdict."""
    sides = judged.scores.measures[0].every.get(judge)
    queries, limits = 0 if sides is None else len(sides.queries), None
    if sides is None:
        limits = f"{UNKNOWN}: no value of {judged.scores.measures[0].measure}"
    elif not queries:
        limits = f"{UNKNOWN}: {OTHER_QUERIES}"
    elif queries < LEAST_QUERIES:
        limits = f"{UNKNOWN}: only {count(queries, 'common query')}"
    nothing: Mapping[str, Any] = {"labels": None, "labelled": None}
    unjudged = dict.fromkeys(("unjudged", "unjudged_reference"), np.nan)
    return {"queries": queries, **nothing, **unjudged, "limits": limits}


def other_queries(judged: JudgedTables) -> Iterator[Row]:
    """Yield the rows of the table `other_queries`.

    The queries of each side are drawn by themselves, since none is of both.
    """
    options = judged.options
    for judge, measure, reference, values in judged.apart:
        means, drawn = list[np.ndarray](), list[np.ndarray]()
        seeds = np.random.SeedSequence(options.seed).spawn(2)
        for matrix, seed in zip((reference, values), seeds, strict=True):
            queries = len(matrix.queries)
            means.append(orders.means_of(matrix.oriented, orders.whole(queries)))
            draws = orders.drawn_queries(queries, options.resamples, seed)
            drawn.append(orders.means_of(matrix.oriented, draws))
        taus = np.empty(0)
        if (queries := len(reference.queries)) > 1:
            halves = orders.half_weights(splits_of(queries, options.splits, options.seed), queries)
            taus = split_taus(reference.oriented, reference.oriented, halves).people
        is_drawn = min(len(reference.queries), len(values.queries)) > 1
        row = correlated(
            orders.order_correlations(*means), orders.order_correlations(*drawn) if is_drawn else {}
        )
        yield {
            "judge": judge,
            "measure": measure,
            "queries_reference": len(reference.queries),
            "queries_judge": len(values.queries),
            "shared": 0,
            "systems": len(judged.systems),
            **{name: value for name, value in row.items() if name not in ("sd", "drawn")},
            **spread("tau_halves", taus),
            "splits": options.splits,
        }


def means_of_few(judged: JudgedTables) -> Iterator[Row]:
    """Yield the rows of the table `corrected_means`: of judges with further queries."""
    columns: Sequence[str] = (
        *("system", "labelled", "unlabelled", "mean_reference", "mean_judge", "estimate"),
        *("low", "high", "weight", "equivalent"),
    )
    for measure, sides in judged.sides:
        values = judged.completed[sides.judge, measure]
        if LEAST_LABELLED <= len(sides.queries) < len(values.queries):
            corrected = corrected_means(sides.reference, values).select(columns)
            key = {"judge": sides.judge, "measure": measure}
            yield from ({**key, **row} for row in corrected.iter_rows(named=True))
