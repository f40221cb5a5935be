"""`agree`: agreement of sets of labels with a reference, with intervals over queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import polars as pl

from irmeta.api.arguments import AgreeOptions, operation
from irmeta.api.jobs import open_store
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import (
    DataError,
    QrelsWarning,
    RelevanceWarning,
    UsageError,
    check_choice,
    did_you_mean,
    first_few,
    warn,
)
from irmeta.locations import AnyLocation, location
from irmeta.parallel import check_not_forked
from irmeta.phrases import count, listed
from irmeta.policies import Columns, ReadPolicy, columns_by_key
from irmeta.policy_keywords import AgreeKeywords
from irmeta.progress import Progress, reported, shows_progress
from irmeta.schema.result_tables import COMMON_ALPHA, SAME_SCALE, SCALE_FREE
from irmeta.stats.label_agreement import (
    AgreementOptions,
    LabelPairs,
    common_alpha,
    interval_text,
)
from irmeta.stats.resampling import seed_sequence
from irmeta.store.scan import Tracks, tracks_of
from irmeta.summaries import Line, Part, Result, Rows, Summary
from irmeta.trec.readers.files import qrels_text, read_qrels
from irmeta.trec.readers.given import GivenQrels, given_qrels, name_of
from irmeta.trec.source import is_dataset
from irmeta.trec.streams import InputFile
from irmeta.trec.system_names import file_names

if TYPE_CHECKING:
    import altair as alt

LabelSets = dict[str, pl.DataFrame]
"""query, doc, grade (Float64) of each set of labels; the first is the reference."""


PRINTED = (
    *("spearman", "precision", "recall", "kappa_binary", "kappa", "kappa_quadratic"),
    *("alpha_ordinal", "ac2"),
)
"""The best-known coefficients, which are printed."""


def _with_interval(name: str, digits: int) -> pl.Expr:
    """Format a coefficient with its interval, such as ``0.371 [0.316, 0.428]``."""
    parts = [
        pl.col(column).map_elements(lambda v: f"{v:.{digits}f}", pl.String)
        for column in (name, f"{name}_low", f"{name}_high")
    ]
    has_interval = pl.col(f"{name}_low").is_not_nan()
    text = pl.when(has_interval).then(pl.format("{} [{}, {}]", *parts)).otherwise(parts[0])
    return pl.when(pl.col(name).is_not_nan()).then(text).otherwise(pl.lit(None)).alias(name)


@dataclass(frozen=True, repr=False)
class JudgeAgreement(Result):
    """Agreement of judges with a reference.

    Attributes
    ----------
    judges : DataFrame
        One row per track and judge: track, judge, reference; interval (``percentile`` or, of fewer
        than 20 queries, ``bootstrap-t`` or ``jackknife t``: see `agree`); queries and docs that
        both judged;
        reference_alone, judge_alone (docs that one of them judged); rel_reference, rel_judge, and
        the docs that both, the reference alone, the judge alone or none of them holds relevant
        (both_relevant, reference_relevant, judge_relevant, none_relevant); scale (``same``, or the
        grades that differ); then each coefficient with `_low` and `_high`, its 95 % interval:

        - of any scales: spearman (rho of the grades), precision and recall of the judge's relevant
          docs, kappa_binary (Cohen's kappa of relevance);
        - of one scale: exact (share of equal grades), kappa, kappa_linear, kappa_quadratic (Cohen's
          kappa, weighted by the difference of grades), alpha_nominal, alpha_ordinal, alpha_interval
          (Krippendorff), ac1, ac2 (Gwet; quadratic weights), mean_reference, mean_judge, leniency
          (mean_judge - mean_reference). NaN where the scales differ.
    by_query : DataFrame
        track, judge, query, docs, and the coefficients of each query.
    confusion : DataFrame
        track, judge, reference_grade, judge_grade, docs.
    common : DataFrame
        Krippendorff's alpha of all sets on the reference's scale together, with missing labels:
        track, sets (``judges and reference`` or ``judges``), judges, docs, interval, then
        alpha_nominal, alpha_ordinal, alpha_interval with intervals.
    settings : Mapping
        Arguments: rel, same_scale, raw, resamples, seed.
    """

    judges: pl.DataFrame
    by_query: pl.DataFrame
    confusion: pl.DataFrame
    common: pl.DataFrame
    settings: Mapping[str, object]

    def _summary(self) -> Summary:
        reference = ", ".join(self.judges["reference"].unique(maintain_order=True))
        facts = [
            count(self.judges.height, "judge"),
            f"{self.judges['docs'].sum():,} docs in common",
        ]
        return Summary(f"with {reference}", facts)

    def frame(self) -> pl.DataFrame:
        """Return `judges`."""
        return self.judges

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        # Six digits of a value and its interval would be too wide for a terminal.
        places = 3 if digits is None else digits
        judges = self.judges.sort("kappa_binary", descending=True, nulls_last=True)
        keys = ["track"] if judges["track"].n_unique() > 1 else []
        for (reference,), rows in judges.group_by("reference", maintain_order=True):
            yield Line(f"Agreement with {reference}", "bold")
            texts = [_with_interval(name, places) for name in PRINTED]
            yield Rows(rows.select(*keys, "judge", "docs", *texts))

    def show(self, coefficient: str = "kappa") -> alt.LayerChart:
        """Draw a coefficient of the judges with its intervals, the best judge first.

        Raises
        ------
        UsageError
            If the coefficient is unknown, or there are several tracks.
        """
        from irmeta.report.figure_file import offline
        from irmeta.report.figures import judge_intervals

        check_choice("coefficient", coefficient, (*SCALE_FREE, *SAME_SCALE))
        if self.judges["track"].n_unique() > 1:
            raise UsageError("there are several tracks: choose one by `track=`.")
        return offline(judge_intervals(self.judges, coefficient))

    def show_confusion(self, judge: str, *, track: str | None = None) -> alt.LayerChart:
        """Draw the numbers of docs by the grades of the reference and of one judge.

        Raises
        ------
        UsageError
            If there is no such judge, or it judged several tracks and none is named.
        """
        from irmeta.report.figure_file import offline
        from irmeta.report.figures import confusion_map

        tracks = self.confusion["track"].unique().to_list() if track is None else [track]
        rows = self.confusion.filter(pl.col("judge") == judge, pl.col("track").is_in(tracks))
        if rows.is_empty():
            known = self.confusion["judge"].unique().sort().to_list()
            raise UsageError(f"no judge {judge!r}. {did_you_mean(judge, known)}")
        if rows["track"].n_unique() > 1:
            raise UsageError(f"{judge} judged several tracks: choose one by `track=`.")
        return offline(confusion_map(rows))


@operation(AgreeOptions, policies=False)
@shows_progress("Comparing")
def agree(
    options: AgreeOptions,
    source: object,
    judges: object = None,
    *,
    rel: float | Mapping[str | None, float] | None = None,
    track: Tracks = None,
    progress: Progress = None,
    **_: Unpack[AgreeKeywords],
) -> JudgeAgreement:
    """Compare labels of judges with those of a reference; no runs are needed.

    Labels of one query are not independent, so 95 % intervals are over whole queries: percentiles
    of a cluster bootstrap or, of 5 to 19 queries, a bootstrap-t; of 2 to 4, Student's t with
    jackknife standard errors. See Notes for their coverage.

    Parameters
    ----------
    source : Store, path, or qrels
        A store or its folder, whose qrels sets are compared; or the reference's qrels in any form
        that `from_data` takes.
    judges : object, optional
        Judges' qrels as a dict ``{name: qrels}``, or a list of files, which are named by their
        files. For a store the names of its sets; default: all but the reference.
    rel : float or dict, optional
        Least grade of a relevant doc: a number, or ``{name: grade}``, in which None stands for all
        sets that are not named. Default: the grade that the collection of a store states for the
        set, else 1.
    track : str or iterable of str, optional
        For a store, only these tracks.
    progress : bool or callable, optional
        See `read`.
    {options}

    Returns
    -------
    JudgeAgreement

    Warns
    -----
    RelevanceWarning
        If no doc of a set is relevant.
    QrelsWarning
        If a file has lines that begin with # and may be rows, or rows without a grade.

    Raises
    ------
    UsageError
        If a name is unknown, or there is no judge to compare.
    DataError
        If qrels are malformed or by subtopic.

    Notes
    -----
    Labels that a judge did not give are absent, not grade 0: only docs that both judged count. Nor
    are negative grades labels, as everywhere. Grades of up to 1 % of a judge's labels that the
    reference never uses are left out of the coefficients of one scale; `scale` names them.
    kappa and alpha correct for chance by the labels' own shares, so that a judge of few relevant
    docs may agree often and have a kappa near 0; AC1 and AC2 hardly depend on these shares.

    Intervals of fewer than 20 queries are of ``-log(1 - coefficient)`` and have standard errors
    that leave out one query at a time. In
    simulations (5, 10 and 19 queries, drawn from TREC DL 2021 or made), 92 to 97 % of the intervals
    of kappa, AC2 and alpha cover the coefficient of all queries; those of recall in 79 to 89 % of 5
    queries. Percentiles cover in 73 to 86 (5 queries), 83 to 91 (10) and 88 to 95 % (20 to 30), BCa
    in 76 to 90 % (5 and 10).

    References
    ----------
    .. [1] Cohen (1960). doi:10.1177/001316446002000104
    .. [2] Cohen (1968), weighted kappa. doi:10.1037/h0026256
    .. [3] Krippendorff (2011). Computing Krippendorff's alpha-reliability.
    .. [4] Gwet (2008). doi:10.1348/000711006X126600

    Examples
    --------
    >>> human = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "d": 2, "e": 1}}
    >>> model = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 0, "d": 1, "e": 2}}
    >>> found = irmeta.agree(human, {"model": model}, rel=2)
    >>> found.judges.select("judge", "docs", "kappa", "recall").rows()
    [('model', 6, 0.25, 0.5)]
    """
    check_not_forked()
    if isinstance(source, AnyLocation) and location(source).is_dir():
        source = open_store(source)
    computed = AgreementOptions(
        options.same_scale, options.raw, options.resamples, seed_sequence(options.rng)
    )
    reading = ReadPolicy(
        grade_digits=options.grade_digits, comments=options.comments, columns=options.columns
    )
    sets_of_tracks = _label_sets(source, judges, options.reference, track, reading)
    parts = [
        _of_track(name, sets, _rels(rel, sets, _recorded_rels(source, name)), computed)
        for name, sets in reported(sets_of_tracks.items(), len(sets_of_tracks), "tracks")
    ]
    judged, by_query, confusion, common = (
        pl.concat(tables, how="diagonal_relaxed") for tables in zip(*parts, strict=True)
    )
    record = options.record()
    late = [name for name in ("comments", "columns") if name in options.changed()]
    recorded = ("same_scale", "raw", *late)
    settings = {
        "rel": {name or "": grade for name, grade in rel.items()}
        if isinstance(rel, Mapping)
        else rel,
        **{name: record[name] for name in (*recorded, "resamples", "seed")},
    }
    return JudgeAgreement(judged, by_query, confusion, common, settings)


def _of_track(
    track: str, sets: LabelSets, rels: Mapping[str, float], options: AgreementOptions
) -> tuple[pl.DataFrame, ...]:
    """Return the tables of `JudgeAgreement` for one track."""
    (reference, labels), *judges = sets.items()
    docs = pl.concat([labelled.select("query", "doc") for labelled in sets.values()])
    if not docs.is_duplicated().any():
        raise UsageError(
            f"{track}{': ' if track else ''}{listed([name for name, _ in judges])} and {reference} "
            "have no judged doc in common: are they of the same queries and docs?"
        )
    _warn_without_relevant(track, sets, rels)
    rows: list[dict[str, Any]] = []
    by_query, confusion, comparable = list[pl.DataFrame](), list[pl.DataFrame](), LabelSets()
    for name, judged in judges:
        pairs = LabelPairs(labels, judged, rels[reference], rels[name], options)
        key = {"track": track, "judge": name}
        kind = interval_text(len(pairs.tables))
        rows.append({**key, "reference": reference, "interval": kind, **pairs.row()})
        named = [pl.lit(value).alias(column) for column, value in key.items()]
        by_query.append(pairs.by_query().select(*named, pl.all()))
        confusion.append(pairs.confusion().select(*named, pl.all()))
        if pairs.is_comparable:
            on_scale = pairs.grades[pairs.on_scale]
            comparable[name] = judged.filter(pl.col("grade").is_in(on_scale))
    together = {"judges and reference": {reference: labels, **comparable}, "judges": comparable}
    common = [
        {"track": track, "sets": name, **common_alpha(several, options)}
        for name, several in together.items()
        if len(several) > 1
    ]
    return (
        pl.DataFrame(rows),
        pl.concat(by_query),
        pl.concat(confusion),
        COMMON_ALPHA.frame(common),
    )


def _warn_without_relevant(track: str, sets: LabelSets, rels: Mapping[str, float]) -> None:
    """Warn about sets in which no doc is relevant."""
    without_relevant = [
        name for name, labelled in sets.items() if not (labelled["grade"] >= rels[name]).any()
    ]
    if without_relevant:
        listed = first_few(without_relevant, "their recall is 0 or undefined")
        warn(
            f"{track}: no doc is relevant in {listed}. Name the least relevant grade of each set "
            "by `rel=`.",
            RelevanceWarning,
        )


def _rels(
    rel: float | Mapping[str | None, float] | None,
    sets: Iterable[str],
    recorded: Mapping[str, float],
) -> dict[str, float]:
    """Return the least relevant grade of each set."""
    set_names = list(sets)
    asked = dict[str | None, float]()
    if isinstance(rel, Mapping):
        asked |= rel
    elif rel is not None:
        asked[None] = rel
    for name in asked:
        if name is not None and name not in set_names:
            raise UsageError(f"rel: no set {name!r}. {did_you_mean(name, set_names)}")
    return {name: asked.get(name, asked.get(None, recorded.get(name, 1))) for name in set_names}


def _recorded_rels(source: object, track: str) -> dict[str, float]:
    """Return the least relevant grades that a store's collection states for its qrels sets."""
    if not isinstance(source, OpenedStore):
        return {}
    rows = source.qrels_sets(track).select("set", "rel").drop_nulls().rows()
    return {str(name): float(grade) for name, grade in rows}


def _label_sets(
    source: object,
    judges: object,
    reference: str | None,
    track: Tracks,
    reading: ReadPolicy,
) -> dict[str, LabelSets]:
    """Return the sets of labels by track, the reference first."""
    if isinstance(source, OpenedStore):
        if changed := reading.changed():
            name = next(iter(changed))
            raise UsageError(f"`{name}=` is for files and data; a store has read its qrels.")
        return _stored(source, judges, reference, track)
    if track is not None:
        raise UsageError("`track=` is for a store.")
    if judges is None:
        raise UsageError("no judge: name qrels to compare with the reference.")
    columns = columns_by_key(reading.columns)
    reference_qrels, *others = given_qrels(source, columns)
    if others:
        listed_sets = ", ".join(qrels.name for qrels in (reference_qrels, *others))
        raise UsageError(f"several references: {listed_sets}. Pass one, and the others as judges.")
    judges, file_name = _with_names(source, judges, is_named=reference is not None)
    name = reference or file_name or "reference"
    read = partial(_labels, reading=reading)
    sets = {qrels.name: read(qrels) for qrels in _given(judges, name, columns)}
    return {"data": {name: read(replace(reference_qrels, name=name)), **sets}}


def _with_names(source: object, judges: object, *, is_named: bool) -> tuple[object, str | None]:
    """Return judges with names, and the reference's own name.

    Files of equal names are named with their folders.
    """
    several = cast("Sequence[object]", judges) if isinstance(judges, list | tuple) else [judges]
    own_name = name_of(source)
    if isinstance(judges, Mapping) or not all(map(_is_file, several)):
        return judges, own_name
    files = [cast("str | os.PathLike[str]", file) for file in several]
    compared = files if is_named or not _is_file(source) else [cast("Any", source), *files]
    short_names = [name_of(file) for file in compared]
    if len(set(short_names)) == len(short_names):
        return judges, own_name
    places = [Path(file).as_posix() for file in compared]
    if len(set(places)) < len(places):
        again = next(file for file in places if places.count(file) > 1)
        raise UsageError(f"{again} is given twice: pass a dict {{name: qrels}}.")
    longer = file_names(places)
    longer_names = [longer[place] for place in places]
    judged = longer_names[len(longer_names) - len(files) :]
    reference = own_name if len(longer_names) == len(judged) else longer_names[0]
    return dict(zip(judged, files, strict=True)), reference


def _is_file(one: object) -> bool:
    return isinstance(one, str | os.PathLike) and not (isinstance(one, str) and is_dataset(one))


def _given(judges: object, reference: str, columns: Columns) -> list[GivenQrels]:
    """Return the qrels of judges; files are named by their files."""
    if isinstance(judges, list | tuple):
        by_name = {name_of(qrels) or f"judge{i}": qrels for i, qrels in enumerate(judges, 1)}
        if len(by_name) < len(judges):
            raise UsageError("two judges have the same name: pass a dict {name: qrels}.")
        judges = by_name
    named = given_qrels(judges, columns)
    is_named = isinstance(judges, Mapping) and named[0].name in judges
    if not is_named:  # one set, which has no name of its own
        named = [GivenQrels(name_of(judges) or "judge", named[0].parts)]
    for qrels in named:
        if qrels.name == reference:
            raise UsageError(f"a judge has the name of the reference, {reference!r}: rename one.")
    return named


def _labels(given: GivenQrels, reading: ReadPolicy) -> pl.DataFrame:
    """Read one set of labels: query, doc, grade."""
    parts, digits = list[pl.DataFrame](), reading.grade_digits
    for part in given.parts:
        if isinstance(part, InputFile):
            text = read_qrels(part, grade_digits=digits, comments=reading.comments)
        else:
            text = qrels_text(part, False, "", grade_digits=digits)
        for note in text.shown:
            warn(f"{given.name}: {note}", QrelsWarning)
        if text.has_subtopics:
            raise DataError(f"{given.name} has judgments by subtopic, which are not compared")
        parts.append(text.frame.select("query", "doc", pl.col("grade").cast(pl.Float64)))
    labels = pl.concat(parts)
    if labels.select(pl.struct("query", "doc").is_duplicated().any()).item():
        raise DataError(f"a doc of a query is in two files of {given.name}")
    return labels.filter(pl.col("grade") >= 0)


def _stored(
    store: OpenedStore, judges: object, reference: str | None, track: Tracks
) -> dict[str, LabelSets]:
    """Return the qrels sets of each track with the reference and a judge."""
    asked = [judges] if isinstance(judges, str) else list(cast("Iterable[str]", judges or ()))
    sets_by_track = dict[str, LabelSets]()
    known = dict[str, None]()
    for name in tracks_of(store.reader, track):
        is_label = pl.col("subtopic").is_null() & (pl.col("grade") >= 0)
        rows = store.qrels(name, sets="all").filter(is_label).collect()
        sets = {
            str(key[0]): part.select("query", "doc", pl.col("grade").cast(pl.Float64))
            for key, part in rows.group_by("set", maintain_order=True)
        }
        known |= dict.fromkeys(sets)
        first = reference or next(iter(sets), None)
        if first not in sets:
            continue
        chosen = [
            set_name for set_name in sets if set_name != first and (not asked or set_name in asked)
        ]
        if chosen:
            sets_by_track[name] = {set_name: sets[set_name] for set_name in (first, *chosen)}
    wanted = [*([] if reference is None else [reference]), *asked]
    for set_name in wanted:
        if set_name not in known:
            raise UsageError(f"no qrels set {set_name!r}. {did_you_mean(set_name, list(known))}")
    if not sets_by_track:
        raise UsageError("no track has two qrels sets without subtopics to compare.")
    return sets_by_track
