"""`JudgedTrack`: the sets of labels of a track, and the values of its systems by each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.errors import DataError, EmptyFileError, UsageError, did_you_mean, printable
from irmeta.locations import location
from irmeta.measures.drawn_labels import is_doc_sum
from irmeta.measures.names import parse_measures
from irmeta.phrases import count, listed
from irmeta.policies import columns_by_key
from irmeta.preferences.registry import is_preference
from irmeta.results.matrix import Matrix, holds_values
from irmeta.stats.label_agreement import AgreementOptions, LabelPairs
from irmeta.stats.tables import is_measure
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.trec.qrels import REGRADED
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.streams import InputFile

JUDGED = "Judged@10"
EMPTY_FILE = "holds no label, so the judge is left out"
_BOTH = ["query", "doc"]


class Judged(ABC):
    """Values of the systems of a track by a reference and by judges, of labels or of tables."""

    options: Options

    @property
    def reference(self) -> str:
        """Name of the reference."""
        return "reference"

    @cached_property
    @abstractmethod
    def scores(self) -> TrackScores:
        """Values of all systems by all sets."""

    @property
    def sides(self) -> Iterator[tuple[str, Sides]]:
        """Each measure, with its values by the reference and by each judge on shared queries."""
        return (
            (scores.measure, sides) for scores in self.scores.measures for sides in scores.sides
        )


Labels = dict[str, pl.DataFrame]
"""query, doc, grade (Float64) of each set of labels; the first is the reference."""


@dataclass(frozen=True)
class JudgedTrack(Judged):
    """The reference and the judges of a track."""

    track: TrackView  # the track with the sets of files, and with those of common docs, added
    options: Options
    labels: Labels  # labels of the queries that the reference judges, by set, the reference first
    outside: Mapping[str, int]  # number of labels of other queries, which are not used, by set
    rels: Mapping[str, float]  # least relevant grade of each set
    people: tuple[str, ...] = ()  # sets of people beside the reference: see `joined_people`
    file_notes: Mapping[str, str] = field(default_factory=dict)  # see `read_labels`

    @classmethod
    def of(cls, track: TrackView, options: Options) -> JudgedTrack | None:
        """Read the labels of a track; exclude it, and return None, without a judge to compare."""
        reference = track.facts.qrels
        file_notes = dict[str, str]()
        every = read_labels(track, options, file_notes)
        if every is None:
            return None
        every, people = joined_people(every, options.people, track.name)
        queries = every[reference].select("query").unique()
        labels = {
            name: rows.join(queries, on="query", how="semi", maintain_order="left")
            for name, rows in every.items()
        }
        for name in [name for name, rows in labels.items() if rows.is_empty()]:
            track.note(f"no query of {reference} is judged by {name}, which is left out")
            del labels[name]
        outside = {name: every[name].height - labels[name].height for name in labels}
        stated = options.rels_of(labels)
        track.rel = stated.get(reference, track.facts.rel)
        if not _is_comparable(track, labels):
            return None
        _describe_gaps(track, labels)
        in_memory = (*options.judge_files, *people)
        added = {name: labels[name] for name in in_memory if name in labels}
        in_store = [name for name in labels if name not in added]
        rels = {name: track.stated_rel(name) for name in in_store} | dict.fromkeys(added, 1.0)
        rels |= stated
        every_rel = dict(rels)
        for judge in [*labels][1:] if options.common else ():
            of_common = common_names(judge)
            added |= zip(of_common, common_docs(labels[reference], labels[judge]), strict=True)
            every_rel |= zip(of_common, (rels[reference], rels[judge]), strict=True)
        shown = tuple(name for name in people if name in labels)
        view = track.with_sets(added, every_rel)
        return cls(view, options, labels, outside, rels, shown, file_notes)

    @property
    def reference(self) -> str:
        """Name of the reference."""
        return next(iter(self.labels))

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges."""
        return tuple(self.labels)[1:]

    @cached_property
    def scores(self) -> TrackScores:
        """Values of all systems by all sets."""
        return TrackScores.of(self)

    @property
    def is_by_doc_sum(self) -> bool:
        """Whether the first measure is a sum over docs, of which many draws take little time."""
        measure = self.options.measures[0]
        return not is_preference(measure) and is_doc_sum(parse_measures(measure)[0])

    def label_pairs(self, first: str, second: str, docs: pl.DataFrame | None = None) -> LabelPairs:
        """Return the labels of the docs that two sets judged, of these docs if they are given."""
        options, seed = self.options, np.random.SeedSequence(self.options.seed)
        how = AgreementOptions(options.same_scale, options.raw, options.resamples, seed)
        labels = [self.labels[name] for name in (first, second)]
        if docs is not None:
            labels = [rows.join(docs, on=_BOTH, how="semi") for rows in labels]
        return LabelPairs(labels[0], labels[1], self.rels[first], self.rels[second], how)

    def on_shared_pairs(self, judges: Iterable[str]) -> JudgedTrack:
        """Return the track on the pairs of query and doc that the reference and judges all have.

        Its sets are named as `of_shared_pairs` says, and its measure is the first.
        """
        sets = (self.reference, *judges)
        pairs = reduce(
            lambda left, right: left.join(right, on=_BOTH, how="semi", maintain_order="left"),
            (self.labels[name].select(_BOTH) for name in sets),
        )
        labels = {
            of_shared_pairs(name): self.labels[name].join(
                pairs, on=_BOTH, how="semi", maintain_order="left"
            )
            for name in sets
        }
        rels = {of_shared_pairs(name): self.rels[name] for name in sets}
        track = self.track.with_sets(labels, {**self.rels, **rels})
        first = replace(self.options, measures=self.options.measures[:1], common=False)
        return replace(self, track=track, options=first, labels=labels, rels=rels)


def read_labels(track: TrackView, options: Options, file_notes: dict[str, str]) -> Labels | None:
    """Read the reference and the judges of a track; exclude the track if it has no reference.

    `file_notes` receives, by judge, what is wrong with its file: `EMPTY_FILE`, or docs with several
    grades, of which the last counts.
    """
    reference, sets = track.facts.qrels, track.record["qrels"]
    by_subtopic = [qrels["name"] for qrels in sets if qrels["subtopics"]]
    if reference in by_subtopic:
        track.leave_out(f"the qrels set {reference} judges by subtopic")
        return None
    if by_subtopic:
        track.note(f"judgments by subtopic are not compared: {listed(by_subtopic)}")
    set_names = [qrels["name"] for qrels in sets]
    plain = [name for name in set_names if name not in (reference, *by_subtopic)]
    if options.named_judges:
        named = chain(options.named_judges, *options.people.values())
        plain = [name for name in dict.fromkeys(named) if name in plain]
    if options.judge_files and (dropped := track.facts.policy.get("drop_docs")):
        raise UsageError(
            f"track {track.name!r} was read without the docs in {dropped}, which a judge's file "
            "may have: name the judge as a qrels set of the collection."
        )
    labels = {name: track.labels(name) for name in (reference, *plain)}
    for name, path in options.judge_files.items():
        if name in set_names:
            raise UsageError(
                f"track {track.name!r} has a qrels set {name!r}: give the judge in the file "
                f"{path!r} another name."
            )
        if holds_values(location(path), is_measure, options.columns):
            raise UsageError(
                f"{path} holds values by system and query, not qrels: tables of values are "
                "compared without a store."
            )
        try:
            labels[name], notes = labels_of_file(path, options)
        except EmptyFileError:
            notes = [EMPTY_FILE]
        for note in notes:
            track.note(f"{path}: {note}")
            if note.startswith((EMPTY_FILE, REGRADED)):
                file_notes[name] = note
    return labels


def joined_people(
    labels: Labels, people: Mapping[str, Sequence[str]], track: str
) -> tuple[Labels, tuple[str, ...]]:
    """Join the sets of each group of people, of which a later label of a doc wins.

    The joined sets follow the reference, in place of their parts. Returns them with their names.
    """
    reference, *judges = labels
    for name, parts in people.items():
        for part in parts:
            if part == reference:
                raise UsageError(
                    f"human: {part!r} is the reference of track {track!r}, one of the people "
                    "already: leave it out."
                )
            if part not in judges:
                hint = did_you_mean(part, judges)
                raise UsageError(f"human: track {track!r} has no set of labels {part!r}. {hint}")
        if name in labels and name not in parts:
            raise UsageError(f"human: {name!r} is a set of labels: give the people another name.")
    joined = {
        name: pl.concat([labels[part] for part in parts])
        .unique(["query", "doc"], keep="last", maintain_order=True)
        .sort("query", "doc")
        for name, parts in people.items()
    }
    parts = {part for of_group in people.values() for part in of_group}
    others = {name: labels[name] for name in judges if name not in parts}
    return {reference: labels[reference], **joined, **others}, tuple(joined)


def labels_of_file(path: str, options: Options) -> tuple[pl.DataFrame, list[str]]:
    """Read the qrels of a judge: query, doc, grade (Float64); and notes on rows."""
    file = InputFile.at(Path(path), printable(path))
    file = replace(file, columns=columns_by_key(options.columns))
    text = read_qrels(file, comments=options.comments, last_grade=True)
    frame = text.frame
    if text.has_subtopics:
        raise DataError("judgments by subtopic are not compared", file=path)
    return frame.select(
        pl.col("query", "doc").cast(pl.String), pl.col("grade").cast(pl.Float64)
    ).sort("query", "doc"), text.shown


def _is_comparable(track: TrackView, labels: Labels) -> bool:
    """Check that there are systems and a judge to compare; exclude the track if not."""
    if len(track.facts.systems) < 2:
        track.leave_out("one system, so none to compare it with")
    elif len(labels) < 2:
        track.leave_out(f"{next(iter(labels))} is its only set of labels, so there is no judge")
    return len(track.facts.systems) > 1 and len(labels) > 1


def _describe_gaps(track: TrackView, labels: Labels) -> None:
    """Add notes on the judges that lack queries or docs of the reference."""
    (_, reference), *judges = labels.items()
    for name, rows in judges:
        docs = reference.join(rows, on=["query", "doc"], how="anti").height
        queries = reference["query"].n_unique() - rows["query"].n_unique()
        lacks = [count(docs, "doc")] * (docs > 0) + [count(queries, "query")] * (queries > 0)
        if lacks:
            track.note(f"no label by {name} of {listed(lacks)} of the reference")


def of_shared_pairs(judge: str) -> str:
    """Return the name of the set of a judge's labels of the pairs that all judges have."""
    return f"{judge} (pairs of all judges)"


def common_names(judge: str) -> tuple[str, str]:
    """Return names of the sets of the reference's and the judge's labels of common docs."""
    return f"{judge} (common docs, reference)", f"{judge} (common docs)"


def common_docs(reference: pl.DataFrame, judge: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the labels of the docs that both judged, by the reference and by the judge."""
    keys = ["query", "doc"]
    return (
        reference.join(judge, on=keys, how="semi", maintain_order="left"),
        judge.join(reference, on=keys, how="semi", maintain_order="left"),
    )


def t_margin(values: np.ndarray) -> float:
    """Return half the width of the 95 % interval of a mean by Student's t; NaN: one value."""
    if len(values) < 2:
        return np.nan
    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))


def comparison(low: float, high: float) -> str | None:
    """Describe a difference by its interval; None: undefined."""
    if np.isnan(low):
        return None
    return "higher" if low > 0 else "lower" if high < 0 else "not distinguishable"


@dataclass(frozen=True)
class Sides:
    """Values of one measure by the reference and by a judge, on the queries that both labelled."""

    judge: str
    docs: str  # all: docs of each set; common: docs that both judged
    # reference, judged: values of the same queries, on which the reference has a value of every
    # system. Of a query whose value by the judge is undefined, 0.
    reference: Matrix
    judged: Matrix
    undefined: int  # number of these queries

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries."""
        return self.reference.queries

    @property
    def direction(self) -> int:
        """1: greater is better; -1: less is better."""
        return self.reference.direction

    @cached_property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values [query, system] by the reference and by the judge, negated if less is better."""
        return self.reference.oriented, self.judged.oriented


@dataclass(frozen=True)
class MeasureScores:
    """Values of the systems by one measure."""

    measure: str  # the measure, as in the options: each set has its own relevant grade
    # values by the reference and each judge, by judge: by all docs of each set
    every: Mapping[str, Sides]
    common: Mapping[str, Sides]  # the same by the docs that both judged; empty without the option

    @property
    def compared(self) -> Mapping[str, Sides]:
        """Values by the reference and each judge, by judge: by common docs if asked."""
        return self.common or self.every

    @property
    def sides(self) -> Iterator[Sides]:
        """Those of `compared` that have a query."""
        return (sides for sides in self.compared.values() if sides.queries)

    @property
    def by_queries(self) -> Iterator[tuple[Matrix, dict[str, Matrix]]]:
        """The reference's values, and those by the judges with which it has just these queries."""
        groups = dict[int, list[Sides]]()
        for side in self.sides:
            groups.setdefault(id(side.reference), []).append(side)
        for several in groups.values():
            yield several[0].reference, {side.judge: side.judged for side in several}


@dataclass(frozen=True)
class TrackScores:
    """Values of the systems of a track by all measures and sets."""

    systems: tuple[str, ...]
    measures: tuple[MeasureScores, ...]
    judged_shares: Mapping[str, Matrix]  # values of Judged@10 by set

    @classmethod
    def of(cls, judged: JudgedTrack) -> TrackScores:
        """Score all systems, once by each set."""
        pairs = {judge: (judged.reference, judge) for judge in judged.judges}
        common = {judge: common_names(judge) for judge in pairs if judged.options.common}
        sets = [*judged.labels, *chain.from_iterable(common.values())]
        matrices = {name: _matrices(judged, name) for name in sets}
        queries = {name: frozenset(rows["query"]) for name, rows in judged.labels.items()}
        shared = dict[tuple[int, tuple[str, ...]], Matrix]()

        def sides(measure: str, docs: str, sets: Mapping[str, tuple[str, str]]) -> dict[str, Sides]:
            return {
                judge: _aligned(
                    (judge, docs),
                    (matrices[reference][measure], matrices[labels][measure]),
                    queries[judge],
                    shared,
                )
                for judge, (reference, labels) in sets.items()
            }

        measures = tuple(
            MeasureScores(name, sides(name, "all", pairs), sides(name, "common", common))
            for name in judged.options.measures
        )
        shares = {name: by_measure[JUDGED] for name, by_measure in matrices.items()}
        return cls(shares[judged.reference].systems, measures, shares)

    def unjudged(self, name: str, queries: Iterable[str]) -> float:
        """Return the mean share of unjudged docs in the first ten ranks; NaN without queries."""
        rows = _on(self.judged_shares[name], tuple(sorted({*queries})))
        return 1.0 - float(np.nan_to_num(rows).mean()) if len(rows) else np.nan


def _matrices(judged: JudgedTrack, qrels: str) -> dict[str, Matrix]:
    """Return the matrix of each measure, by its name in the options, by one set."""
    asked = judged.options.measures
    measures = [*(name for name in asked if not is_preference(name)), JUDGED]
    track = judged.track
    # each alone, since AP and AP(rel=2) may be one measure by this set
    named = {
        name: track.named_in_set(parse_measures(name), qrels=qrels)[0].name for name in measures
    }
    scores = track.scores(list(dict.fromkeys(named.values())), qrels=qrels)
    matrices = {name: scores.matrix(chosen) for name, chosen in named.items()}
    rates = {name: track.win_rates(name, qrels=qrels) for name in asked if is_preference(name)}
    return matrices | rates


def _aligned(
    key: tuple[str, str],
    both: tuple[Matrix, Matrix],
    labelled: frozenset[str],
    shared: dict[tuple[int, tuple[str, ...]], Matrix],
) -> Sides:
    """Return the values on the queries that both labelled; equal ones of the reference once."""
    of_reference = both[0].complete()
    of_reference = of_reference.only_queries(
        np.array([i for i, q in enumerate(of_reference.queries) if q in labelled], int)
    )
    of_reference = shared.setdefault((id(both[0]), of_reference.queries), of_reference)
    rows = _on(both[1], of_reference.queries)
    undefined = int(np.isnan(rows).any(axis=1).sum())
    return Sides(
        *key, of_reference, replace(of_reference, values=np.nan_to_num(rows, nan=0.0)), undefined
    )


def _on(matrix: Matrix, queries: tuple[str, ...]) -> np.ndarray:
    """Return the rows of some queries: NaN for a query that the matrix lacks."""
    place = {query: i for i, query in enumerate(matrix.queries)}
    rows = np.full((len(queries), len(matrix.systems)), np.nan)
    for i, query in enumerate(queries):
        if query in place:
            rows[i] = matrix.values[place[query]]
    return rows
