"""The sections of the study's page, in the paper's order, with the paper's numbers beside ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from irmeta.phrases import agreeing, count, listed
from irmeta.schema.columns import Paper
from irmeta.studies.framework.sections import (
    MOST_NAMED,
    POINTER,
    absent,
    data_section,
    name_tracks,
    sentences,
    show_printed,
)
from irmeta.studies.framework.study import Section, Show, Tables, read_notes, values_of
from irmeta.studies.framework.track_groups import show_over_tracks
from irmeta.studies.papers.depth import study
from irmeta.studies.papers.depth.study import DepthOptions as Options

DATA = Paper("4 collections of 21 to 42 contributing runs and 50 topics each", "Table 3")
SLIPS = read_notes("irmeta.studies.papers.depth")
"""Contradictions in the paper, and the choice made here, by table."""
_VALUES = values_of(study.NUMBERS)
_NAMES: Mapping[str, Sequence[str]] = {  # "Table 7" of paper_notes.toml says which are one
    "Robust04": ("Robust04", "TREC 8", "TREC 8 Robust", "TREC 8 Robust04"),
    "ClueWeb2010": ("ClueWeb2010", "ClueWeb10"),
}
"""What the tables call a collection of Table 3, where that is not one name."""
_RATIOS = {"discrimination": "Disc.", "coverage": "Covr.", "inversion": "Invr."}
_CHANGES = {"delta_percent": "change %", "delta_rank": "ranks moved"}
_TIES = {"median_of_means": "median of ties %", "tau_b": "tau"}
Printed = Mapping[str, Callable[[Mapping[str, Any]], str | None]]


def collection_of(contributors: int, depth: int | None) -> str | None:
    """Return the collection of Table 3 with as many contributing runs and as deep a pool."""
    size = {"contributing runs": str(contributors), "pooling depth": str(depth)}
    collections = dict.fromkeys(
        row["collection"] for row in study.NUMBERS if row["item"] == "Table 3"
    )
    return next(
        (n for n in collections if all(_VALUES["Table 3", n, "", c] == v for c, v in size.items())),
        None,
    )


def printed_beside(item: str, collections: Mapping[str, str | None]) -> Printed:
    """Return the paper's numbers of a table, by column, as functions of the rows of ours.

    `collections` has the paper's collection of each track, or None.
    """

    def find(row: Mapping[str, Any], ending: str, line: str, column: str) -> str | None:
        known = collections.get(row["track"]) or ""
        keys = ((item, name + ending, line, column) for name in _NAMES.get(known, (known,)))
        return next((_VALUES[key] for key in keys if key in _VALUES), None)

    def ratio(row: Mapping[str, Any], column: str) -> str | None:
        endings = ["", f", d = {row['depth']}"] if row["depth"] == 20 else [f", d = {row['depth']}"]
        named = f"{_measure(row)} {_RATIOS[column]}"
        printed = (find(row, ending, f"k = {row['k']}", named) for ending in endings)
        return next(filter(None, printed), None)

    def change(row: Mapping[str, Any], column: str) -> str | None:
        if row["k"] != row["depth"]:
            return None
        ending, line = f", k = d = {row['k']}", f"{row['level']}, {_measure(row)}"
        return find(row, ending, line, _CHANGES[column])

    def outcome(row: Mapping[str, Any]) -> str | None:
        line = "all" if row["depth"] is None else f"d = {row['depth']}"
        text = find(row, "", line, row["quantity"])
        return None if text in (None, "n/a") else text.replace("\u00b1", " \u00b1 ")

    def with_residual(row: Mapping[str, Any]) -> str | None:
        ending, line = f", d = {row['depth']}", f"k = {row['k']}"
        both = [find(row, ending, line, f"{_measure(row)} {n}") for n in ("score", "residual")]
        return None if None in both else " + ".join(filter(None, both))

    def tied(row: Mapping[str, Any], column: str) -> str | None:
        # Table 6 spells tracks in its own way: TREC8 of trec-8, Robust04 of robust-2004
        plain = re.sub(r"[^a-z0-9]", "", row["track"].lower()).removesuffix("adhoc")
        plain = re.sub(r"^(robust)20(?=\d\d$)", r"\1", plain).replace("terabyte20", "trec20")
        tracks = {row["collection"] for row in study.NUMBERS if row["item"] == "Table 6"}
        track = next((name for name in tracks if name.lower() == plain), "")
        return _VALUES.get((item, track, "", _TIES[column]))

    return {
        "Table 4": {"mean": outcome},
        "Table 5": {name: partial(change, column=name) for name in _CHANGES},
        "Table 6": {name: partial(tied, column=name) for name in _TIES},
        "Table 7": {name: partial(ratio, column=name) for name in _RATIOS},
        "Table 8": {name: partial(ratio, column=name) for name in _RATIOS},
        "Table 9": {"score": with_residual},
    }[item]


def _measure(row: Mapping[str, Any]) -> str:
    """Return the paper's spelling of a row's measure, without its cutoff."""
    return row["measure"].partition("@")[0].replace(",rel=1", "")


VERDICTS = {
    "reusable": "reusable",
    "with care": "to be used with care",
    "not for new systems": "not for new systems",
}
"""The verdicts of `reusability`, best first, and their wording."""
MOST_LISTED = 4  # measures; the most frequent verdict on as many is that of the other measures


def guidance(tables: Tables, track: str) -> Iterator[str]:
    """Yield one sentence per depth of the pool: cutoffs that lead to the same conclusions.

    The lists are full. A range that ends at the greatest computed cutoff prints as "from k on".
    """
    rows = tables["guidance"].filter(track=track, lists="full")
    greatest = tables["table_7"].filter(track=track)["k"].max()
    for (depth,), of_depth in rows.group_by("depth", maintain_order=True):
        several = f" and a pool of depth {depth}" if rows["depth"].n_unique() > 1 else ""
        several += _estimated(tables, track)
        ranges: dict[str, list[str]] = {}
        depths: dict[int | None, list[str]] = {}
        for measure, low, high, least in of_depth.select(
            "measure", "k_low", "k_high", "least_depth"
        ).iter_rows():
            ranges.setdefault(_cutoff_range(low, high, greatest), []).append(measure)
            depths.setdefault(least, []).append(measure)
        conclusions_hold = "; ".join(
            f"{listed(measures)} {agreeing(len(measures), 'holds', 'hold')} {cutoffs}"
            for cutoffs, measures in ranges.items()
        )
        yield f"On {track}{several}, {conclusions_hold}; {_agreeing_pools(depths)}."


def _cutoff_range(low: int | None, high: int | None, greatest: object) -> str:
    if low is None or high is None:
        return "at no cutoff"
    if high == greatest:
        return f"from k = {low} on"
    return f"for k = {low}" + (f" to {high}" if high > low else "")


def _agreeing_pools(depths: dict[int | None, list[str]]) -> str:
    """Return which pools order the contributors as all judgments do, by which measures."""
    known = sorted((depth, measures) for depth, measures in depths.items() if depth is not None)
    same = len(known) == 1 and None not in depths
    pools = [
        f"a pool of depth {d}" + ("" if same else f" ({listed(measures)})") for d, measures in known
    ]
    done = "its contributors nearly as all judgments do"
    if not pools:
        return f"no pool orders {done}"
    text = f"{listed(pools)} {agreeing(len(pools), 'orders', 'order')} {done}"
    return f"{text}, and no pool by {listed(depths[None])}" if None in depths else text


def reusability(tables: Tables, track: str) -> Iterator[str]:
    """Yield one sentence per kind of judgments, or one if they agree: the verdicts by level."""
    rows = tables["reusability"].filter(track=track)
    lost = tables["table_5"].filter(track=track)
    kinds: dict[str, list[str]] = {}
    for (judgments,), of_kind in rows.group_by("judgments", maintain_order=True):
        levels = []
        for (level,), of_level in of_kind.group_by("level", maintain_order=True):
            most = lost.filter(level=level, judgments=judgments)["judged_lost"].max()
            text = "no judgment is lost, which proves nothing" if most == 0 else _verdicts(of_level)
            levels.append(f"with each {level} left out, {text}")
        which = "of the pool" if judgments == "pool" else "of every depth"
        kinds.setdefault("; ".join(levels), []).append(which)
    for text, which in kinds.items():
        yield f"Judgments {listed(which)} on {track}{_estimated(tables, track)}: {text}."


def _estimated(tables: Tables, track: str) -> str:
    """Return " (estimated depth of the pool: 7)" if the depth is estimated, otherwise ""."""
    rows = tables["collections"].filter(track=track, depth_source="estimated")
    return f" (estimated depth of the pool: {rows['depth'].item()})" if rows.height else ""


def _verdicts(rows: pl.DataFrame) -> str:
    """Return the verdicts with their measures, e.g. "reusable by ERR@10 and RR@10"."""
    by_verdict = [(v, rows.filter(verdict=v)["measure"].to_list()) for v in VERDICTS]
    by_verdict = [(VERDICTS[verdict], measures) for verdict, measures in by_verdict if measures]
    if len(by_verdict) == 1 and rows.height > 1:
        return f"{by_verdict[0][0]} by every measure"
    if max(sizes := [len(measures) for _, measures in by_verdict]) >= MOST_LISTED:
        most = by_verdict.pop(sizes.index(max(sizes)))[0]
        by_verdict.append((most, ["the other measures"]))
    return ", ".join(f"{verdict} by {listed(measures)}" for verdict, measures in by_verdict)


def undecided(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many pairs of systems the unjudged docs leave undecided, if there are systems."""
    systems = tables["unjudged"].filter(track=track).height
    if pairs := systems * (systems - 1) // 2:
        number = tables["undecided"].filter(track=track).height
        yield (
            f"{number:,} of {count(pairs, 'pair')} of systems on {track} "
            f"{agreeing(number, 'is', 'are')} undecided: their RBP(p=0.8) differs by less than "
            "the residual of the worse system."
        )


WORST = 5  # systems with the fewest judged docs on a track
_COMPARED = {"contributors": "The contributors", "all": "All systems"}
_absent = partial(absent, study.STUDY)
_printed = partial(show_printed, index=("collection", "row"))
_printed_row = partial(show_printed, index=("collection",))


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _pools(tables, options)
    yield _reusability(tables, options)
    yield _ties(tables, options)
    yield _evaluation_depth(tables, options)
    yield _residuals(tables, options)
    yield _orders(tables, options)
    yield _guidance(tables, options)
    yield _unjudged(tables, options)
    yield Section(
        "Beyond the paper: judged docs and the order of systems",
        "Kendall's tau-b of the order of the contributors by a smaller pool with their order by "
        f"all judgments, next to the number of docs that the pool takes to judge. {POINTER}",
        [_of_pools(tables, Show("pool_budget", ("track", "depth", "judged", "measure", "tau_b"),
                                pivot="measure"))],
        notes=_absent(tables, "pool_budget"),
    )  # fmt: skip


def _pools(tables: Tables, options: Options) -> Section:
    rows = tables["collections"]
    notes = [
        *_on(rows, pl.col("depth_source") == "default",
             "the comprehensive depth cannot be used (below 5, or every retrieved doc is judged) "
             "and none is estimated, so d is 10 or the length of the longest list. Nothing "
             "computed with it is called comprehensive."),
        *_on(rows, pl.col("depth_source") == "estimated",
             "the comprehensive depth cannot be used (below 5), so d is estimated: the greatest "
             f"rank with at least {options.least_judged:.3g} of the docs of contributing lists "
             "judged at every rank up to it. Some docs down to d are unjudged."),
        *_on(rows, pl.col("depth_source") == "given",
             "d is given. Nothing computed with it is called comprehensive."),
        *_on(rows, pl.col("depth_bound") == "at least",
             "the contributors are unknown, so every system counts as one. The comprehensive depth "
             "is at least as great, and systems are left out as if they had contributed."),
        *_on(rows, pl.col("depth_bound") == "at most",
             "contributing runs are missing. The comprehensive depth is at most as great."),
        *_only_relevant(tables, "The first unjudged rank means nothing."),
        *_absent(tables, "pool_growth", "judged_by_rank", "table_4"),
        *SLIPS["Section 2"],
        *SLIPS["Table 4"],
    ]  # fmt: skip
    depths = rows["depth"].str.split(", ").explode().cast(pl.Int64).to_list()
    ranks = sorted({*study.PLOTTED_DEPTHS, *depths, *(depth + 1 for depth in depths)})
    return Section(
        "Relevant docs and the depth of the pool (Section 4, RQ1)",
        "A pool of depth d holds the judged docs in the top d of a contributing list. The "
        "comprehensive depth is the greatest d to which every contributing list is judged on "
        "every query; it depends on the tie order of the lists. Figure 1 shows how many relevant "
        "docs a deeper pool finds, and which share of the docs that it adds are relevant. One "
        "unjudged doc ends the comprehensive depth; the share of judged docs by rank shows where "
        "the pool ends.",
        [
            Show("collections"),
            _printed_row("Table 3"),
            "figure_1",
            "pool_growth",
            "judged_ranks",
            Show("judged_by_rank", rows={"rank": ranks}),
            _of_pools(
                tables,
                Show("table_4", ("track", "depth", "quantity", "mean"), pivot="quantity"),
                "Table 4",
            ),
            _printed("Table 4"),
        ],
        notes=notes,
    )


def _reusability(tables: Tables, options: Options) -> Section:
    text = [
        "Each contributing run is left out of the pool, then each group and each type of runs, and "
        "the contributors are scored by the judgments that remain (--others original: only the "
        "left-out systems). Judgments are cut to the pool, as in the paper. Where the depth of the "
        "pool is known or estimated, results with all judgments are given too: then only docs that "
        "the left-out systems alone have within that depth become unjudged. Ranks are among the "
        "contributors; ties share the better rank.",
        "Judgments are reusable if the mean score of left-out systems drops by less than "
        f"{study.REUSABLE_DROP:g}% and the least tau-b of the orders before and after is at "
        f"least {study.REUSABLE_TAU:g}; not for new systems if it drops by more than "
        f"{study.UNUSABLE_DROP:g}% or the least tau-b is below {study.UNUSABLE_TAU:g}; to be "
        f"used with care otherwise. A system that moves by more than "
        f"{count(study.MOST_RANKS_MOVED, 'rank')} has moved. {POINTER}",
    ]
    lone = name_tracks(tables["collections"].filter(pl.col("groups").is_null()))
    notes = _absent(tables, "table_5")
    if lone:
        notes.append(
            f"Leaving out groups is absent on {lone}: the store does not state "
            "the groups of the systems."
        )
    shown = [
        *_left_out(tables, options),
        *_over_tracks(tables, options, "table_5", ("level", "measure"), "group", (*_CHANGES,)),
        _of_pools(tables, Show("table_5", page_only=True)),
        _printed("Table 5"),
        _of_pools(tables, Show("reusability")),
    ]
    heading = "Systems that did not contribute (Section 4, Table 5)"
    return Section(heading, [*text, *sentences(tables, reusability)], shown, notes=notes)


def _left_out(tables: Tables, options: Options) -> Iterator[Show]:
    """Yield Tables 5(a) and 5(b), and the same for types of runs: measures by tracks."""
    cutoffs = {"k": options.leave_out_ks, "depth": options.pool_depths}
    index = ("measure", *(name for name, values in cutoffs.items() if values))
    levels = {"run": ("a", "one run"), "group": ("b", "one group"), "type": ("c", "a type of runs")}
    present = tables["table_5"].filter(judgments="pool")["level"].unique().to_list()
    for level, (letter, what) in levels.items():
        if level in present:
            text = f"Scores and ranks after leaving out {what}, mean changes (Table 5{letter})."
            shown = Show("table_5", (*index, "track", "delta_percent", "delta_rank"),
                         {"level": (level,), "judgments": ("pool",)}, "track",
                         f"table_5{letter}", text, without_cutoff=True)  # fmt: skip
            yield _of_pools(tables, shown, "Table 5")


def _ties(tables: Tables, options: Options) -> Section:
    precision = "" if options.scores_compared == "float64" else ", compared as float32"
    return Section(
        "Tied scores (Section 4, RQ2)",
        f"The share of the top 20 docs of a list that are tied with another of them{precision}: "
        "the mean over lists, then the median over all runs of the track. Tau-b is between the "
        "orders of systems by RBP(p=0.8) over full lists, where trec_eval reorders tied docs by "
        "their names and where docs stay in line order. If the lines of a run are not in order of "
        "score, tie order file differs from score-file, which probably explains the paper's lowest "
        "values.",
        [Show("table_6", printed=printed_beside("Table 6", {})), _printed_row("Table 6")],
        notes=_absent(tables, "table_6"),
    )


def _evaluation_depth(tables: Tables, options: Options) -> Section:
    ratios = ("track", "depth", "k", "measure", "discrimination", "coverage", "inversion")
    cutoffs = (*_cutoffs(tables, options), None)
    text = "Discrimination, coverage and inversion of {} lists by the cutoff ({})."
    shown = list[Show]()
    for lists, name, item in (
        ("full", "table_7", "Table 7"),
        ("condensed", "table_8", "Table 8"),
    ):
        rows = {"lists": (lists,), "k": cutoffs}
        of_tracks = Show("table_7", ratios, rows, "measure", name, text.format(lists, item),
                         by_track=True)  # fmt: skip
        over_tracks = _over_tracks(
            tables, options, "table_7", ("group", "k"), "measure", (*_RATIOS,), rows,
            f"{name}_tracks", text.format(lists, f"{item}, tracks of known depth"),
        )  # fmt: skip
        shown += [_of_pools(tables, of_tracks, item), *over_tracks, _printed(item)]
    reference = f"k = {options.reference_k}" if options.reference_k else "k = d"
    return Section(
        "Scores by the depth of evaluation (Section 4, RQ3)",
        [
            f"{_COMPARED[options.systems]} are compared. Discrimination is the share of unordered "
            "pairs of systems that are significantly different (two-sided paired t-test, p up to "
            f"{options.alpha:g}). The reference is the same measure on full lists at {reference}. "
            "Of the pairs that the reference separates, coverage is the share that the measure "
            "separates in the same direction, and inversion the share whose means it puts in the "
            "opposite order, significantly or not. At a cutoff up to the comprehensive depth, full "
            "and condensed lists of contributors have the same scores, except for docs of a "
            "negative grade, which are in the pool but unjudged.",
            f"Condensed lists omit unjudged docs; the cutoff stays k where such a list is "
            f"shorter. The last row of a track has its full lists. {POINTER}",
        ],
        [
            _printed("Section 3"),
            "figure_4_tracks",
            *shown,
            _of_pools(tables, Show("condensed_lengths")),
            _printed_row("Section 4 (condensed lists)"),
        ],
        notes=[*_absent(tables, "table_7"), *SLIPS["Table 7"], *SLIPS["Table 8"]],
    )


def _residuals(tables: Tables, options: Options) -> Section:
    rows = {"k": _cutoffs(tables, options)}
    columns = ("track", "depth", "k", "measure", "score")
    return Section(
        "Residuals (Section 4, Table 9)",
        "The residual of RBP is how much higher the score would be if every unjudged doc in the "
        "top k, and every doc below, were relevant. Up to the comprehensive depth it is p^k, for "
        "lists of at least k docs without a negative grade. In the residual of ERR, unjudged docs "
        "in the top k have the highest grade, and the doc below ends the search. Means are over "
        "systems and queries.",
        [
            _of_pools(tables, Show("table_9", columns, rows, "measure"), "Table 9"),
            *_over_tracks(
                tables, options, "table_9", ("group", "k"), "measure", ("score", "residual"), rows
            ),
            _printed("Table 9"),
        ],
        notes=[
            *_only_relevant(tables, "Residuals mean nothing."),
            *_absent(tables, "table_9"),
            *SLIPS["Table 9"],
        ],
    )


def _orders(tables: Tables, options: Options) -> Section:
    single = ("track", "depth", "measure_a", "theta", "tied", "stable", "least", "queries")
    pairs = ("track", "depth", "measure_a", "measure_b", "same_cutoff", "deeper", "asymmetry",
           "stable", "least", "queries")  # fmt: skip
    text = "Orders of systems by two measures at cutoffs from 1 to 50 (Figure 7)."
    figures = {"figure": ("7", "beyond")}
    of_pairs = Show("stability", pairs, figures, name="stability_pairs", caption=text)
    return Section(
        "Orders of systems (Section 4, RQ4)",
        f"Correlation ({options.method}) of the orders of systems by two measures at each pair of "
        "cutoffs up to 50. With one measure the matrix shows whether the cutoff changes the "
        "order; with two, whether a cutoff of one corresponds to another cutoff of the other. "
        "0.9 is a usual threshold of equivalent orders; theta is the least cutoff above which all "
        "orders by a measure exceed it (Section 3). Measures of like depth are compared with each "
        "other: RBP(.95) with AP and nDCG. In nDCG@k the first doc has a share "
        "1 / sum(1 / log2(1 + i)) of the weight, so the cutoff also changes how top-weighted the "
        f"measure is. {POINTER}",
        [
            _of_pools(tables, Show("stability", single, {"figure": ("5", "6")})),
            _of_pools(tables, of_pairs),
            "figure_5_tracks",
            "figure_6_tracks",
            _printed("Section 4 (weights)"),
        ],
        notes=_absent(tables, "stability"),
    )


def _guidance(tables: Tables, options: Options) -> Section:
    text = (
        "Cutoffs around that of the reference that lead to the same conclusions as the reference: "
        f"tau-b at least {study.LEAST_TAU:g}, coverage at least {study.LEAST_COVERAGE:g}, no "
        "inversion. From the least depth on, every pool orders the contributors with a tau-b of at "
        f"least {study.LEAST_TAU:g} to their order by all judgments."
    )
    columns = ("track", "depth", "lists", "measure", "k_low", "k_high", "least_depth")
    return Section(
        "Beyond the paper: safe cutoffs and pools",
        [text, *sentences(tables, guidance)],
        [_of_pools(tables, Show("guidance", columns, pivot="measure"))],
        notes=_absent(tables, "guidance"),
    )


def _unjudged(tables: Tables, options: Options) -> Section:
    rows, pairs = tables["unjudged"], tables["undecided"].height
    hardly = rows.filter(pl.col("judged_at_10") < study.HARDLY_JUDGED).height
    text = (
        f"By all judgments, {hardly:,} of {count(rows.height, 'system')} "
        f"{agreeing(hardly, 'has', 'have')} a mean Judged@10 below {study.HARDLY_JUDGED:g}. "
        f"{count(pairs, 'pair of systems is', 'pairs of systems are')} undecided: their "
        "RBP(p=0.8) differs by less than the residual of the worse system. The tables unjudged "
        "and undecided have every system and pair."
    )
    return Section(
        "Beyond the paper: unjudged docs",
        text,
        [_of_pools(tables, Show("judged_by_contribution"))],
        notes=[
            *_only_relevant(tables, "Shares of judged docs and residuals mean nothing."),
            *_absent(tables, "unjudged"),
        ],
    )


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: conclusions, figures, the most unjudged systems."""
    rows = [tables[name].row(0, named=True) for name in ("studied_tracks", "collections")
            if tables[name].height]  # fmt: skip
    facts = {name: value for row in rows for name, value in row.items()}
    labels = {
        "systems": "systems",
        "contributors": "contributors",
        "queries": "judged queries",
        "depth": "depth of the pool",
        "depth_source": "source of the depth",
    }
    worst = tables["unjudged"].sort("judged_at_10", "system").head(WORST)["system"].to_list()
    caption = f"The {count(len(worst), 'system')} with the fewest judged docs in the top 10."
    unjudged = [Show("unjudged", rows={"system": worst}, caption=caption)] if worst else []
    return Section(
        track,
        [text for about in (guidance, reusability, undecided) for text in about(tables, track)],
        ["*", *unjudged],
        facts={label: facts[name] for name, label in labels.items() if name in facts},
    )


def _cutoffs(tables: Tables, options: Options) -> list[int]:
    """Return the cutoffs on the page: the paper's or the given ones, and those of references."""
    references = tables["table_7"]["reference_k"].unique().to_list()
    return sorted({*(options.ks or study.PRINTED_CUTOFFS), *references})


def _of_pools(tables: Tables, show: Show, item: str = "") -> Show:
    """Add the depths of the pools and their sources to a caption, and the numbers of the paper."""
    printed: Printed = {}
    if item:
        facts = tables["collections"].select("track", "contributors", "comprehensive_depth")
        collections = {track: collection_of(*size) for track, *size in facts.iter_rows()}
        printed = printed_beside(item, collections)
    return replace(show, about=_depths(tables), printed=printed)


def _over_tracks(
    tables: Tables,
    options: Options,
    table: str,
    index: Sequence[str],
    pivot: str,
    values: Sequence[str],
    rows: Mapping[str, Sequence[Any]] | None = None,
    name: str = "",
    caption: str = "",
) -> list[Show]:
    """Return a table over tracks, with the depth of the pool if it is that of all tracks."""
    columns = (*index, *(("depth",) if options.pool_depths else ()), pivot, *values)
    show = Show(f"{table}_tracks", columns, rows or {}, pivot, name, caption)
    return show_over_tracks(tables, show)


def _depths(tables: Tables) -> dict[str, str]:
    """Return the depths of the pools with their sources: by track, and under "" as a sentence."""
    collections = tables["collections"]
    by_track = {
        track: f"d = {depth} ({source})"
        for track, depth, source in collections.select("track", "depth", "depth_source").iter_rows()
    }
    texts = [f"{track}: {depth}" for track, depth in by_track.items()]
    if len(texts) <= MOST_NAMED:
        return by_track | {"": f"{'; '.join(texts)}." if texts else ""}
    each = collections["depth"].str.split(", ").explode().cast(pl.Int64)
    by_source = collections.group_by("depth_source", maintain_order=True).len().iter_rows()
    sources = listed([f"{source} on {count(number, 'track')}" for source, number in by_source])
    return by_track | {"": f"d from {each.min()} to {each.max()}: {sources}."}


def _on(rows: pl.DataFrame, which: pl.Expr, text: str) -> Iterator[str]:
    """Yield a note on the tracks of a condition, if there are any."""
    if tracks := name_tracks(rows.filter(which)):
        yield f"On {tracks}, {text}"


def _only_relevant(tables: Tables, text: str) -> Iterator[str]:
    """Yield a note on the tracks where every judged doc is relevant."""
    known = (pl.col("judged") == pl.col("relevant")) & (pl.col("judged") > 0)
    yield from _on(tables["collections"], known, f"only relevant docs are judged. {text}")
