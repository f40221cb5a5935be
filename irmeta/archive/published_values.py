"""Published values of the catalogue or of a table, and the measures of irmeta behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.archive.catalog import all_choices, published, runs
from irmeta.delimited import longer_row, read_cells, rows_of
from irmeta.errors import DataError, MeasureError, UsageError, did_you_mean
from irmeta.measures.names import Spec, parse_measure
from irmeta.policies import Columns
from irmeta.results.value_tables import SUMMARIES
from irmeta.schema.result_tables import PUBLISHED
from irmeta.stats.tables import is_measure
from irmeta.trec.readers.frames import NOT_CHOSEN, renamed_columns


@dataclass(frozen=True)
class Rule:
    """Measure of irmeta behind a published number; None: it cannot be recomputed, for a `reason`.

    `sets` are names that the qrels set of the evaluator may have; empty: the track's first.
    """

    measure: str | None
    sets: tuple[str, ...] = ()
    rel: int = 1
    reason: str = ""


OLDER_NAMES = (
    (r"P(\d+)", r"P_\1"),
    (r"recall(\d+)", r"recall_\1"),
    (r"ircl_prn\.(\d\.\d+)", r"iprec_at_recall_\1"),
    (r"R-prec", "Rprec"),
    (r"gm_ap", "gm_map"),
    (r"exact_prec", "set_P"),
    (r"exact_recall", "set_recall"),
    (r"old_bpref", "Bpref(form=trec_eval7)"),
)
"""Names that trec_eval 7 and 8 print, and the names of trec_eval 9 or irmeta."""

TREC_EVAL = re.compile(
    r"map|gm_map|bpref|recip_rank|Rprec|ndcg|11pt_avg|infAP|set_(P|recall)"
    r"|(P|recall|ndcg_cut|map_cut|success)_\d+|iprec_at_recall_\d\.\d+|num_(q|ret|rel|rel_ret)"
)
"""Output names of trec_eval, which `parse_measure` reads."""

BY_EVALUATOR: dict[str, dict[str, str]] = {
    "gdeval": {"ndcg": "nDCG(gain=exp)@20", "err": "ERR(gmax=4)@20"},
    "ndeval": {
        "ERR-IA@10": "ERR_IA@10",
        "alpha-nDCG@10": "alpha_nDCG@10",
        "P-IA@10": "P_IA@10",
        "MAP-IA": "AP_IA",
    },
    "sample-eval": {
        "infAP": "xinfAP(norm=min)@1000",
        "infNDCG": "infNDCG@1000",
        "iP10": "infP@10",
        "iP100": "infP@100",
    },
}
"""Measures of programs other than trec_eval. gdeval's cutoff is 20 and its highest grade is 4."""

OTHER_NAMES = {
    "rbp_p5": "RBP(p=0.5,gain=linear)",
    "ndcg_20": "nDCG@20",
    "mrr": "RR",
    "Precision@10": "P@10",
    "Precision@15": "P@15",
}
"""Names in tables of trec_eval's values. rbp_p5 is graded with gain g/2 where grades go to 2."""

BY_EDITION = {(edition, "bpref"): "Bpref(form=trec_eval7)" for edition in ("trec12", "trec13")}
"""Measures whose definition changed: trec_eval.h of version 8.1 says it of bpref."""

SETS = {"sample-eval": ("sample",)}
"""Names of the set that an evaluator reads, where neither its own name nor the first set."""

FIRST_SET = (
    *("trec_eval", "adhoc", "allrel", "eval", "feed", "gdeval", "highrel", "ndcg", "ndeval"),
    *("opinion", "passages-eval", "topicrel"),
)
"""Evaluators that read a track's first qrels set; all others are named after the set they read."""

RELEVANT = {"highrel": 2, "opinion": 2, "passages-eval": 2}
"""Least relevant grade of evaluators that read the qrels with `trec_eval -l`.

NIST says so of passages (trec.nist.gov/data/deep2019.html), and nDCG does not depend on it.
"""

RELEVANT_OF_TRACK = {"trec21/microblog": 2}
"""Least relevant grade of trec_eval's values of a track: only highly relevant docs counted.

No run of 2012 has a larger P_1000 than 0.0347, of at most 0.0436 from grade 2 and 0.1065 from 1.
"""

PASSAGES = ("trec29/deep", "trec30/deep", "trec31/deep")
"""Tracks whose passage task has values of trec_eval from qrels in which grade 1 is not relevant.

Their nDCG is lower than that of the other evaluator, which reads all grades.
"""

GAINS_FROM_2 = PASSAGES[:2]
"""Those whose nDCG has gains from grade 2: all 236 and 252 values of 2020 and 2021 are equal."""

_NDCG_AT_10 = Rule("nDCG@10", reason="the column holds nDCG@10")
EXCEPTIONS = {(f"trec-covid/round{number}", "ndcg"): _NDCG_AT_10 for number in (1, 2, 3)}
"""Columns whose values are not what their name says, by track of the catalogue and measure.

All 143 runs of TREC-COVID round 1 agree. The columns of rounds 2 and 3 have the nDCG@10 that
Anserini's documentation has for its runs (r3.fusion2: 0.6100).
"""

_PRECISION_AT_15 = Rule("P@15", reason="the column P_10 of this track holds P@15")
PRECISION_AT_15 = re.compile(r"trec(\d|1[0-2])/.*|trec13/(genomics|robust)|trec14/(HARD|robust)")
"""Tracks whose column P_10 of trec_eval holds P@15: those with Rprec beside it.

A mean of P@10 over 50 topics is a multiple of 1/500. All 129 runs of TREC-8 ad hoc have multiples
of 1/750, and few of 1/500. Of 110 runs of robust 2004 with 249 topics, all but one have multiples
of 1/3735. The 17 runs at hand of robust 2003 have these values of P@15.
"""

FIRST_OF_SEVERAL: dict[tuple[str, tuple[str, ...] | None], str] = {
    ("trec15/terabyte", ("adhoc",)): "a mean over the 149 topics of 2004 to 2006"
}
"""What later values are, of tasks whose runs have several and the first is over the qrels' topics.

Of all 61 automatic runs, the first P_10 is a multiple of 1/500, and the second of 1/1490.
"""

OTHER_TOPICS = {
    "trec16/million-query": "NIST computed it on the topics of the terabyte tracks, whose qrels "
    "the track does not have"
}
"""Why the values of a track cannot be recomputed.

NIST calls those of the million query track of 2007 "tb-topics": P_100 reaches 0.41, and the track's
own judgments allow 0.11.
"""

NEEDS_BASELINE = re.compile(r"risk-")


def catalog_rule(
    track: str, evaluator: str, measure: str, run_tasks: Sequence[str] | None = None
) -> Rule:
    """Return the rule for a published number of the catalogue, by its names there."""
    if (exception := EXCEPTIONS.get((track, measure))) is not None:
        return exception
    if (evaluator, measure) == ("trec_eval", "P_10") and PRECISION_AT_15.fullmatch(track):
        return _PRECISION_AT_15
    if track in OTHER_TOPICS:
        return Rule(None, reason=OTHER_TOPICS[track])
    if NEEDS_BASELINE.match(evaluator):
        return Rule(None, reason="a difference from a baseline run that is not in the catalogue")
    sets = SETS.get(evaluator, ())
    if not sets and evaluator not in FIRST_SET:
        sets = (evaluator, evaluator.removesuffix("-eval"))
    if evaluator in BY_EVALUATOR:
        ours = BY_EVALUATOR[evaluator].get(measure)
        return Rule(ours, sets, reason="" if ours else f"no rule for {measure} of {evaluator}")
    edition = track.partition("/")[0]
    ours = BY_EDITION.get((edition, measure)) or OTHER_NAMES.get(measure)
    if ours is None and TREC_EVAL.fullmatch(measure) is None:
        return Rule(None, reason=f"no rule for {measure}")
    rel = RELEVANT.get(evaluator) or RELEVANT_OF_TRACK.get(track, 1)
    is_ndcg = measure.startswith("ndcg")
    if evaluator == "trec_eval" and track in PASSAGES and tuple(run_tasks or ()) == ("passages",):
        if is_ndcg and track not in GAINS_FROM_2:
            return Rule(None, reason="the gains of grades in this column are not established")
        return Rule(ours or measure, sets, 2)
    return Rule(ours or measure, sets, 1 if is_ndcg else rel)


def given_rule(measure: str) -> Rule:
    """Return the rule for a number of a user's file: the name of a measure, today's or older."""
    for pattern, name in OLDER_NAMES:
        if (match := re.fullmatch(pattern, measure)) is not None:
            return Rule(match.expand(name))
    return Rule(measure)


LEAST_SHARED = 0.5
"""Share of a track's systems that a track of the catalogue must list to be taken for it."""
MEANS = (*SUMMARIES, "")
"""Names of the query of a mean, in any program, and where there is none."""
MOST_DIGITS = 15
"""Most decimals at which values are compared: those that a float64 between 0 and 1 holds."""
_MEANINGS = pl.Schema(
    dict.fromkeys(("evaluator", "measure", "canonical", "qrels", "reason"), pl.String())
)
REPEATED = "the catalogue has several values of this run and measure"


@dataclass(frozen=True)
class CatalogTrack:
    """A track of the catalogue, or some of its tasks, such as ``trec15/terabyte``."""

    id: str
    run_tasks: tuple[str, ...] | None = None


def read_published(path: Path) -> pl.DataFrame:
    """Read a CSV file as texts, with the number of each line.

    Raises UsageError if there is no such file. Raises DataError if it cannot be read, or a line has
    more fields than the header.
    """
    try:
        rows = read_cells(path, str(path))
    except FileNotFoundError:
        problem = "is a folder" if path.is_dir() else "is not there"
        raise UsageError(f"{path} {problem}") from None
    except (DataError, OSError) as error:
        if (line := _ragged_line(path)) is not None:
            raise DataError("more fields than the header", file=str(path), line=line) from None
        if isinstance(error, DataError):
            raise
        problem = f"cannot be read as CSV ({str(error).strip().partition(chr(10))[0]})"
        raise DataError(problem, file=str(path)) from error
    lines = rows.select(pl.exclude("line")).with_row_index("line", 2)
    return lines.filter(~pl.all_horizontal(pl.exclude("line").is_null()))


def _ragged_line(path: Path) -> int | None:
    """Return the first line with more fields than the header."""
    try:
        rows = rows_of(path.read_bytes().decode(), str(path))
        _, header = next(rows, (1, []))
        longer = longer_row(rows, len(header))
    except (OSError, ValueError, DataError):
        return None
    return longer and longer[0]


def published_rows(
    rows: pl.DataFrame,
    name: str,
    tracks: Sequence[str],
    known: Sequence[str],
    columns: Columns = NOT_CHOSEN,
) -> pl.DataFrame:
    """Check a table of published values, and bring it into the form of `PUBLISHED`.

    Columns are system, measure, value (or one per measure), and optionally track, query (`MEANS`: a
    mean), evaluator and line; without track, only one may be selected. `UsageError` for a missing
    column or unknown track; `DataError` for a missing name, or a value that is no number. `columns`
    are those that the user names.
    """
    keys = ("track", "system", "query", "measure", "value", "evaluator")
    rows = _tidied(renamed_columns(rows, columns, keys, name))
    missing = [column for column in ("system", "measure", "value") if column not in rows.columns]
    if missing:
        listed = ", ".join(column for column in rows.columns if column != "line")
        raise UsageError(
            f"{name} lacks the columns {', '.join(missing)}; it has {listed}. "
            "Needed: system, measure, value; optional: track, query, evaluator. "
            f"`columns='{missing[0]}=COLUMN'` names one."
        )
    if rows.is_empty():
        raise UsageError(f"{name} has no values.")
    if "track" not in rows.columns:
        if len(tracks) != 1:
            raise UsageError(
                f"{name} has no column track, and there are {len(tracks)} tracks: name one by "
                "`track=`."
            )
        rows = rows.with_columns(track=pl.lit(tracks[0]))
    texts = {
        column: pl.col(column).cast(pl.String)
        for column in PUBLISHED.columns
        if column in rows.columns
    }
    absent = {column: pl.lit(None, pl.String) for column in ("query", "evaluator")}
    cleaned = rows.with_columns(
        **(absent | texts), printed=pl.col("value").cast(pl.String).str.strip_chars()
    )
    _check_rows(cleaned, name)
    unknown = cleaned.filter(~pl.col("track").is_in(list(known)))
    if unknown.height:
        track = unknown["track"][0]
        raise UsageError(f"{name}: no track {track!r} here. {did_you_mean(track, known)}")
    is_mean = pl.col("query").str.to_lowercase().is_in(MEANS)
    published_values = cleaned.with_columns(
        query=pl.when(is_mean).then(None).otherwise("query"),
        evaluator=pl.col("evaluator").fill_null(""),
        problem=pl.lit(None, pl.String),
    )
    return PUBLISHED.frame(published_values.select(*PUBLISHED.columns))


def _tidied(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row per value of a table with a column per measure; other tables unchanged."""
    measures = [
        column
        for column in rows.columns
        if column not in ("line", *PUBLISHED.columns) and is_measure(column)
    ]
    if {"measure", "value"} & set(rows.columns) or not measures:
        return rows
    keys = [column for column in rows.columns if column not in measures]
    texts = rows.with_columns(pl.col(measures).cast(pl.String))
    return texts.unpivot(measures, index=keys, variable_name="measure").drop_nulls("value")


def _check_rows(rows: pl.DataFrame, name: str) -> None:
    number = pl.col("printed").cast(pl.Float64, strict=False)
    keys = ("track", "system", "measure")
    is_wrong = pl.any_horizontal(number.is_null(), pl.col(keys).is_null())
    unit = "line" if "line" in rows.columns else "row"
    lines = rows if unit == "line" else rows.with_row_index("row")
    for row in lines.filter(is_wrong).head(1).iter_rows(named=True):
        empty = [key for key in keys if row[key] is None]
        raise DataError(
            f"the {empty[0]} is missing" if empty else "the value is not a number",
            file=name,
            line=row[unit],
            unit=unit,
            value=None if empty else row["printed"] or "",
            fix="Correct the line, or remove it.",
        )


def catalog_tracks(
    systems: Mapping[str, Sequence[str]], names: Mapping[str, str]
) -> dict[str, CatalogTrack]:
    """Map tracks of a store to tracks of the catalogue with published values.

    It is the one that `names` says, that has its name (``trec8-adhoc``), or that alone lists at
    least half of its systems; of several tasks, the one that all listed systems are of. Others are
    left out.
    """
    known = _known_tracks()
    for track, name in names.items():
        if track not in systems:
            raise UsageError(f"no track {track!r} here. {did_you_mean(track, list(systems))}")
        if name not in known:
            raise UsageError(f"no published values of {name!r}. {did_you_mean(name, known)}")
    listed = published().select("id", system=plain_name("run")).unique()
    matched = dict[str, CatalogTrack]()
    for track, of_track in systems.items():
        plain = pl.DataFrame({"system": list(of_track)}, {"system": pl.String})
        plain = plain.select(plain_name("system")).unique()
        if (name := names.get(track, track)) in known:
            matched[track] = _with_task(known[name], plain["system"])
            continue
        counts = listed.join(plain, on="system").group_by("id").len()
        fits = counts.filter(pl.col("len") >= max(1, LEAST_SHARED * len(of_track)))["id"].to_list()
        if len(fits) == 1:
            matched[track] = _with_task(CatalogTrack(fits[0]), plain["system"])
    return matched


def _with_task(track: CatalogTrack, systems: pl.Series) -> CatalogTrack:
    """Return the task that all listed systems of a track with several tasks are of, if any."""
    tasks = all_choices()[track.id].tasks
    if track.run_tasks is not None or len(tasks) < 2:
        return track
    listed = runs().filter(id=track.id).select("task", system=plain_name("run"))
    here = listed.filter(pl.col("system").is_in(systems.to_list()))
    number = here["system"].n_unique()
    of_task = [(task, here.filter(pl.col("task").is_in(task.run_tasks))) for task in tasks]
    fits = [task.run_tasks for task, rows in of_task if rows["system"].n_unique() == number > 0]
    return CatalogTrack(track.id, fits[0]) if len(fits) == 1 else track


def _known_tracks() -> dict[str, CatalogTrack]:
    """Map ids, and names of folders, to tracks with published values."""
    ids = published()["id"].unique().sort().to_list()
    known = {
        name: CatalogTrack(track_id)
        for track_id in ids
        for name in (track_id, track_id.replace("/", "-"))
    }
    for track_id in ids:
        for task in all_choices()[track_id].tasks:
            known[task.folder] = CatalogTrack(track_id, task.run_tasks)
    return known


def plain_name(column: str) -> pl.Expr:
    """Return names of runs without the prefix of their files, in lower case."""
    return pl.col(column).str.strip_prefix("input.").str.to_lowercase()


def catalog_values(tracks: Mapping[str, CatalogTrack]) -> pl.DataFrame:
    """Return the published means of tracks of the catalogue, under the names of its runs."""
    is_repeated = pl.col("occurrence").max().over("id", "run", "evaluator", "measure") > 0
    repeated = pl.when(is_repeated).then(pl.lit(REPEATED))
    parts = [PUBLISHED.empty()]
    for track, catalog_track in tracks.items():
        problem = repeated
        if later := FIRST_OF_SEVERAL.get((catalog_track.id, catalog_track.run_tasks)):
            problem = pl.when(pl.col("occurrence") > 0).then(pl.lit(later))
        columns = (
            pl.lit(track).alias("track"),
            _run_names(catalog_track.id).alias("system"),
            pl.lit(None, pl.String).alias("query"),
            "evaluator",
            "measure",
            pl.col("value").alias("printed"),
            problem.alias("problem"),
        )
        parts.append(_of_task(published(), catalog_track).select(*columns))
    return pl.concat(parts)


def _run_names(track: str) -> pl.Expr:
    """Return the runs behind published names; session tracks publish CWIrun1.RL1 as CWIrun1."""
    listed = runs().filter(id=track)["run"].unique().to_list()
    longer = pl.col("run") + "." + pl.col("evaluator").str.slice(0, 3)
    is_listed = pl.col("run").is_in(listed)
    return pl.when(~is_listed & longer.is_in(listed)).then(longer).otherwise("run")


def _of_task(scores: pl.DataFrame, track: CatalogTrack) -> pl.DataFrame:
    """Return the scores of a track without runs that only other tasks have."""
    of_track = scores.filter(id=track.id)
    if track.run_tasks is None:
        return of_track
    listed = runs().filter(id=track.id)
    is_used = pl.col("task").is_in(list(track.run_tasks))
    others = listed.filter(~is_used).join(listed.filter(is_used), on="run", how="anti")
    return of_track.join(others, on="run", how="anti")


def match_names(published: Sequence[str], systems: Sequence[str]) -> dict[str, str]:
    """Map published names to systems: equal, or else alone in having the same plain name."""
    equal = {name: name for name in set(published) & set(systems)}
    unequal = [
        pl.DataFrame(
            {column: [label for label in labels if label not in equal]}, {column: pl.String}
        )
        .with_columns(plain=plain_name(column))
        .filter(pl.col("plain").is_unique())
        for column, labels in (("published", published), ("system", systems))
    ]
    alike = unequal[0].join(unequal[1], on="plain").select("published", "system")
    return equal | dict(alike.iter_rows())


def add_meanings(
    rows: pl.DataFrame, catalog: CatalogTrack | None, sets: Sequence[str]
) -> pl.DataFrame:
    """Add the number, its decimals (own_digits; digits: the most of the column), and its meaning.

    That is the canonical measure and qrels (null: the first of `sets`), or the reason why there is
    none. `catalog` is the track that the values are from; None: a user's table.
    """
    columns = rows.select("evaluator", "measure").unique(maintain_order=True)
    meanings = [
        (evaluator, measure, *_meaning(catalog, evaluator, measure, sets))
        for evaluator, measure in columns.iter_rows()
    ]
    exponent = pl.col("printed").str.extract(r"[eE]([+-]?\d+)").cast(pl.Int32).fill_null(0)
    decimals = pl.col("printed").str.extract(r"\.(\d+)").str.len_chars().fill_null(0)
    column = ["evaluator", "measure", pl.col("query").is_null()]
    is_sound = pl.col("problem").is_null()
    return (
        rows.join(
            pl.DataFrame(meanings, _MEANINGS, orient="row"),
            on=["evaluator", "measure"],
            maintain_order="left",
        )
        .with_columns(
            published=pl.col("printed").cast(pl.Float64),
            own_digits=(decimals.cast(pl.Int32) - exponent).clip(0, MOST_DIGITS),
            canonical=pl.when(is_sound).then("canonical"),
            reason=pl.coalesce("problem", "reason"),
        )
        .with_columns(digits=pl.col("own_digits").max().over(column))
    )


def _meaning(
    catalog: CatalogTrack | None, evaluator: str, measure: str, sets: Sequence[str]
) -> tuple[str | None, str | None, str | None]:
    """Return the canonical measure and the qrels set behind a column, or why there is none."""
    if catalog is None:
        rule = given_rule(measure)
    else:
        rule = catalog_rule(catalog.id, evaluator, measure, catalog.run_tasks)
    if rule.measure is None:
        return None, None, rule.reason
    qrels = next((set_name for set_name in rule.sets if set_name in sets), None)
    if rule.sets and qrels is None:
        return None, None, f"the track has no qrels set {' or '.join(dict.fromkeys(rule.sets))}"
    try:
        spec = parse_measure(rule.measure)
        if rule.rel != 1:
            spec = with_parameter(spec, "rel", rule.rel)
    except MeasureError as error:
        return None, None, str(error)
    if spec is None:
        return None, None, f"{measure} has no least relevant grade"
    return spec.name, qrels, rule.reason or None


def with_parameter(spec: Spec, name: str, value: Any) -> Spec | None:
    """Return a measure with another value of a parameter; None if nothing changes."""
    if spec.settings.get(name, value) == value:
        return None
    changed = tuple((n, value if n == name else old) for n, old in spec.params)
    return parse_measure(replace(spec, params=changed, asked="").name)
