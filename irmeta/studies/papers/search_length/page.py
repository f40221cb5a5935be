"""The figures and the sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count, listed
from irmeta.report.charts.histogram import Class, bucket_name, histogram
from irmeta.report.charts.row_charts import dumbbell, strip
from irmeta.report.figures import length_differences, length_histogram, share
from irmeta.report.theme import BLUE, PALE_BLUE, axis_title, nothing
from irmeta.schema.columns import Paper
from irmeta.studies.framework.claim_print import MOST_NAMED as NAMED_IN_PRINT
from irmeta.studies.framework.part_tables import not_compared
from irmeta.studies.framework.sections import data_section, tracks_without
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.framework.track_view import SIDE_ROLES
from irmeta.studies.papers.search_length.compute import CHAINS, FURTHER, ORDER, TABLE_1
from irmeta.studies.papers.search_length.study import CONFIDENCE, EFFECTIVE_FRACTION, RATIO
from irmeta.studies.papers.search_length.study import SearchLengthOptions as Options

EFFECTIVE_MEAN = 0.57
CLASSES: Mapping[int, tuple[tuple[float, str], ...]] = {
    1: ((0.0, "far from solved"), (0.3, "between"), (0.5, "near-solved")),
    2: ((20.0, "from 20 up: P@20 undersamples"),),
    3: (),
    4: ((100.0, "from 100 up"),),
}
"""Classes that the text names in Figures 1 to 4, by figure: lower bound and name."""

SHORT = "best system misses more relevant docs than the median system"
DAGGER = pl.when("short").then(pl.col("track") + " \u2020").otherwise("track")
FEWEST = 3  # tracks of a distribution
CHOICE = {"floor": "missed docs as in Eq. 3", "depth": "missed docs below rank D"}
DAGGERS = "\u2020: the best system misses more relevant docs than the median system."


def _axis(measure: str) -> str:
    return axis_title(f"{measure}, mean over queries", display_of(measure).unit)


def _named(rows: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of some measures, with the name of each in column `which`."""
    rows = rows.filter(pl.col("measure").is_in([*names]))
    return rows.with_columns(which=pl.col("measure").replace_strict(names, return_dtype=pl.String))


def _asl_and_deep(options: Options) -> dict[str, str]:
    return {options.deep[options.asl()]: "depth", options.asl(): ""}


# Figures 1 to 4


NUMBER = pl.col("figure").str.strip_prefix("Figure ").str.replace(", unretrieved=", " ")


def _distribution(rows: pl.DataFrame, options: Options) -> Any:
    bars = rows.sort(pl.col("low").fill_null(float("-inf")))
    measure, (total, short) = bars["measure"][0], (int(bars[n].sum()) for n in ("tracks", "short"))
    is_length = display_of(measure).format == "length"
    ends = bars.select("low", "high").iter_rows()
    buckets = [bucket_name(low, high, ",g" if is_length else ".1f") for low, high in ends]
    bars = bars.with_columns(bucket=pl.Series(buckets, dtype=pl.String))
    if total < FEWEST:
        where = " and ".join(
            f"{bucket} ({count(tracks, 'track')})"
            for bucket, tracks in bars.filter(pl.col("tracks") > 0)
            .select("bucket", "tracks")
            .rows()
        )
        return nothing(
            f"Best {measure}: {where}. A distribution over tracks needs at least {FEWEST} tracks: "
            "read the values in the table headroom."
        )
    full = bars.select("bucket", count=pl.col("tracks") - pl.col("short"), kind=pl.lit("full"))
    marked = bars.select("bucket", count="short", kind=pl.lit("short"))
    return histogram(
        pl.concat([full, marked]) if short else full,
        title=f"Best {measure} of {count(total, 'track')}",
        subtitle="tracks by the value of their best system; "
        f"{'lower' if is_length else 'higher'} is better",
        x_title=_axis(measure),
        y_title="tracks",
        kinds={"full": (BLUE, "other tracks"), "short": (PALE_BLUE, SHORT)} if short else None,
        classes=_classes(bars, CLASSES[int(bars["number"][0].split()[0])], total),
    )


def _classes(bars: pl.DataFrame, classes: Sequence[tuple[float, str]], total: int) -> list[Class]:
    named = []
    stops = [*(low for low, _ in classes[1:]), float("inf")]
    for (start, text), stop in zip(classes, stops, strict=False):
        inside = bars.filter(pl.col("low") > start - 1e-9, pl.col("low") < stop - 1e-9)
        tracks = int(inside["tracks"].sum())
        words = f"{text}|{tracks:,} of {total:,} ({share(tracks, total)})"
        named.append(Class(inside["bucket"][0], words, start > 0))
    return named


# The best system of each track, beside another


def _headrooms(tables: Tables, options: Options) -> pl.DataFrame:
    plain = {options.asl(10): "asl_g10", options.asl(): "asl"}
    deep = {options.deep[measure]: f"{name}_depth" for measure, name in plain.items()}
    return _named(tables["headroom"], deep | plain)


def _best_and_median(rows: pl.DataFrame, options: Options) -> Any:
    measure = rows["measure"][0]
    values = (pl.col(n).round(1).cast(pl.String) for n in ("value", "median"))
    columns = {
        "filled_name": pl.format("{}: {}", "track", "system"),
        "ring_name": pl.format("{}: median system", "track"),
        "ring": pl.col("median"),
        "aside": pl.format("{} / {}", *values),
    }
    return dumbbell(
        rows.select(row=DAGGER, filled="value", **columns),
        title=f"Best and median system by {measure}",
        subtitle="filled: best system; ring: median system; lower is better",
        x_title=_axis(measure),
        aside="best / median",
        display=display_of(measure),
    )


def _depth(rows: pl.DataFrame, options: Options) -> Any:
    measure, tracks = rows["measure"][0], count(rows.height, "track")
    changed = rows.filter(pl.col("best") != pl.col("best_cut")).height
    tau = pl.col("tau").map_elements(
        lambda t: f"{t:z.2f}".replace("-", "\u2212"), return_dtype=pl.String
    )
    columns = {
        "filled_name": pl.format("{}: {}", "track", "best"),
        "ring_name": pl.format("{}, cut at {}: {}", "track", "depth", "best_cut"),
        "ring": pl.col("value_cut"),
        "aside": tau.replace("nan", "\u2014"),
    }
    return dumbbell(
        rows.select(row=DAGGER, filled="value", **columns),
        title=f"Best {measure}: full and cut lists",
        subtitle=f"filled: full; ring: cut at rank {options.cut_depth}; another system is the best "
        f"in {changed} of {tracks}",
        x_title=_axis(measure),
        aside="tau-b",
        display=display_of(measure),
    )


# The steps of the chains, and what AP averages


def _steps(tables: Tables, options: Options, order: Sequence[tuple[str, int]]) -> pl.DataFrame:
    key = ["chain", "step", "unretrieved"]
    words = tables["table_2"].select(*key, "change")
    wanted = pl.DataFrame(order, schema=key[:2], orient="row").cast({"step": pl.Int32})
    rows = wanted.join(words, on=key[:2], maintain_order="left_right")
    rows = rows.join(tables["reordering"], on=key, maintain_order="left_right")
    which = pl.when(unretrieved="floor").then(pl.lit("")).otherwise("unretrieved")
    return rows.with_columns(which=which).sort("which", maintain_order=True)


def _chain(rows: pl.DataFrame, options: Options, value: str) -> Any:
    is_tau, is_signed = value == "tau", bool((rows["tau"].fill_nan(None) < 0).any())
    row = pl.col("change").str.replace(" to ", "|to ", literal=True).str.replace(": ", "|")
    return strip(
        rows.select(row=row, name=pl.format("{}, {}", "change", "track"), value=value),
        title=f"{'Correlation of orders' if is_tau else 'Largest move'} when the measure changes",
        subtitle="one dot per track; below: mean plus and minus one standard deviation; "
        f"{CHOICE[rows['unretrieved'][0]]}",
        x_title=CHAIN_AXES[value],
        domain=(-1.0 if is_signed else 0.0, 1.0) if is_tau else (0.0, 100.0),
        digits=".2f" if is_tau else ".0f",
        spread=True,
    )


def _fractions(tables: Tables, options: Options) -> pl.DataFrame:
    means = tables["effective_by_track"].filter(~pl.col("trivial")).sort("fraction", "track")
    order = means.select("track", mean="fraction")
    return order.join(tables["effective_fraction"], on="track", maintain_order="left_right")


def _fraction(rows: pl.DataFrame, options: Options) -> Any:
    means = rows.unique("track", maintain_order=True)["mean"].drop_nans()
    mean, sd = means.mean(), means.std()
    around = "none" if mean is None else f"{mean:.0%}"
    around += "" if sd is None else f" \u00b1 {sd:.0%}"
    return strip(
        rows.select(row="track", name=pl.format("{}: {}", "track", "system"), value="fraction"),
        title="Share of relevant docs that average precision averages",
        subtitle=f"mean of {count(len(means), 'track')}: {around}",
        x_title="share of relevant docs, mean over queries",
        domain=(0.0, 1.0),
        digits=".0%",
        rule=(EFFECTIVE_MEAN, f"paper {EFFECTIVE_MEAN:.0%}"),
        axis_format="%",
    )


# Figures 5 and 6 of one track


def _best(tables: Tables, options: Options) -> pl.DataFrame:
    best = _named(tables["best_by_choice"], _asl_and_deep(options))
    best = best.unique("system", keep="first", maintain_order=True)
    return best.select("track", "which", "measure", "system", "short").join(
        tables["search_length_histogram"], on=["track", "system"], maintain_order="left_right"
    )


def _figure_5(rows: pl.DataFrame, options: Options) -> Any:
    mark = " \u2020" if rows["short"][0] else ""
    track, system = rows.select("track", "system").row(0)
    return length_histogram(rows, f"{track}: search lengths of {system}{mark}")


def _caption_5(rows: pl.DataFrame, options: Options) -> str:
    measure, system = rows.select("measure", "system").row(0)
    text = f"the relevant docs by search length in {system}, the best system by {measure}."
    return f"Figure 5: {text}" + (f" {DAGGERS}" if rows["short"][0] else "")


def _differences(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the rows of both measures, or of the first if both select the same systems."""
    rows = _named(tables["length_differences"], _asl_and_deep(options))
    best, median = (pl.col(name) != pl.col(name).first() for name in ("best", "median"))
    return rows.filter((pl.col("which") == "") | best | median)


def _figure_6(rows: pl.DataFrame, options: Options) -> Any:
    track, best, median = rows.select("track", "best", "median").row(0)
    by = f" by {rows['measure'][0]}" if rows["which"][0] else ""
    title = f"{track}: search lengths, best less median{by}"
    return length_differences(rows, title, (best, median), ("best", "median"))


BEST = (
    "Each line is a track: the filled dot is its best system, the ring its median system, and the "
    f"line their difference. {DAGGERS}"
)
MOVES = (
    "Each dot is a track: the largest move of a system past others when the measure changes, in "
    "percent of its systems; the bar is the mean plus and minus one standard deviation."
)
TAUS = (
    "Each dot is a track: the correlation of the orders of its systems (1 is the same order, 0 no "
    "relation); the bar is the mean plus and minus one standard deviation."
)
WINS = (
    "Each bar counts relevant docs by their search length in the best system minus that in the "
    "median system: left of 0 the length is shorter in the best system, right of 0 in the median "
    "system. By Eq. 3 a doc that a short list misses may have the shorter length. A difference of "
    "0 has its own bar. Docs that neither system retrieves are no wins or ties."
)
CHAIN_AXES = {
    "tau": "Kendall's tau-b between the orders of a track's systems",
    "delta_sort": "Delta-sort: largest move of a system, % of the track's systems",
}
PAPER, OTHERS = "Table 2 and Section 4.4", "nDCG, RBP and ERR"
FIGURES = (
    Figure("figure", lambda tables, _: tables["distributions"].with_columns(number=NUMBER),
           _distribution,
           "{figure}: tracks by the {measure} of their best system.",
           "Each bar counts tracks by the value of their best system; a bucket includes its lower "
           "bound, but not its upper bound.", each="number"),
    Figure("headroom", _headrooms, _best_and_median,
           lambda rows, o: f"{rows['measure'][0]} of the best and the median system of each track, "
           f"by {o.best_by or rows['measure'][0]}.", BEST, each="which"),
    Figure("delta_sort", partial(_steps, order=ORDER), partial(_chain, value="delta_sort"),
           f"{PAPER}: the largest move; docs not retrieved: {{unretrieved}}.", MOVES, each="which"),
    Figure("tau_b", partial(_steps, order=ORDER), partial(_chain, value="tau"),
           f"{PAPER}: the order; docs not retrieved: {{unretrieved}}.", TAUS, each="which"),
    Figure("beyond_delta_sort", partial(_steps, order=FURTHER), partial(_chain, value="delta_sort"),
           f"{OTHERS}: the largest move; docs not retrieved: {{unretrieved}}.", MOVES,
           each="which"),
    Figure("beyond_tau_b", partial(_steps, order=FURTHER), partial(_chain, value="tau"),
           f"{OTHERS}: the order; docs not retrieved: {{unretrieved}}.", TAUS, each="which"),
    Figure("averaged_by_ap", _fractions, _fraction,
           "The share of the relevant docs that AP averages (Appendix A.1).",
           "Each dot is a system: the share of the relevant docs, best first, that its average "
           "precision effectively averages; the black tick is the mean of the track."),
    Figure("cut_lists",
           lambda tables, o: _named(tables["depth_sensitivity"], _asl_and_deep(o)), _depth,
           lambda rows, o: f"The best {rows['measure'][0]} over full lists and lists cut at "
           f"{o.cut_depth} (footnote 6).",
           "Each line is a track: the filled dot is its best system over full lists, the ring the "
           "best over cut lists; tau-b compares the two orders of its systems. " + DAGGERS,
           each="which"),
    Figure("figure_5", _best, _figure_5, _caption_5,
           "Each bar counts relevant docs by their search length. Bars at the left are docs "
           "retrieved early; the last bar, orange, is the docs that were not retrieved.",
           by="track", each="which"),
    Figure("figure_6", _differences, _figure_6,
           "Figure 6: the relevant docs by search length in {best}, the best system by {measure}, "
           "less that in {median}, the median one.", WINS, by="track", each="which"),
)  # fmt: skip


# The sections


DATA = Paper("76 tracks, 4,302 runs, 5,043 queries", "Section 4.1")

COLLECTIONS = {(64, 45): "documents", (59, 54): "passages"}
"""Collections of Table 1 by the runs and judged queries of the 2020 Deep Learning track."""


def table_1_beside(
    sizes: Mapping[str, tuple[int, int]],
) -> Mapping[str, Callable[[Mapping[str, Any]], str | None]]:
    """Return the paper's numbers of Table 1, by column, as functions of the rows of ours."""
    known = {(collection, measure): values for collection, measure, *values in TABLE_1}

    def printed(row: Mapping[str, Any], at: int) -> str | None:
        collection = COLLECTIONS.get(sizes[row["track"]], "")
        value = known.get((collection, row["measure"]), (None,) * 3)[at]
        if value is None:
            return None
        return f"{value:.0%}" if at == 2 else f"{value:.0f}" if value >= 1 else f"{value:.3f}"

    columns = ("baseline_value", "contender_value", "rrie")
    return {name: partial(printed, at=i) for i, name in enumerate(columns)}


BEYOND = (
    "AP discounts rank r by 1/r, so the paper's 1/P is the search length, and the paper averages "
    "the length. nDCG, RBP and ERR discount by other functions c and take the same steps: a doc "
    "alone is worth c(SL), then docs, and then queries, are averaged as lengths.",
    "The literal 1/c is unsuitable: for nDCG it is log2(1 + SL), not a linear scale of ranks, and "
    "for RBP p^(1 - SL), which the deepest doc dominates. The measures' gains remain weights, so "
    "nDCG and ERR end at a search length in which docs of a higher grade have a larger weight. A "
    "perfect list has the value 1 after the first step, but less by RBP and ERR: the Delta-value "
    "of that step, and of the cumulative step, includes this change of scale.",
)


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _headroom(tables, options)
    yield _two_techniques(tables, options)
    yield Section(
        "Reordering (Section 4.4)",
        "Steps from AP to ASL, each compared with the previous one. Delta-sort is the largest move "
        "of a system past others, in per cent of the track's systems; "
        f"better means a ratio of means of at least {RATIO:g} and a two-sided test "
        f"({options.test}) with p up to {options.alpha:g}. Delta-value is the ratio of new to old "
        "values in P space, over all systems: it is large where AP is near 0, so a few weak "
        "systems dominate its mean. Brackets show the mean minus and plus one standard deviation, "
        "as in the paper, cut to possible values. Docs that a list misses have the length of Eq. "
        "3, but at least 1 (floor), so that a short list that misses most docs may lead, or the "
        "length as if at rank D + 1, below the track's deepest rank D (depth).",
        [
            *_reordering(tables, ("AP", "P@20", "RR"), "table_2", "(Table 2 and Section 4.4)"),
            "furthest",
            "delta_sort*",
            "tau_b*",
        ],
    )
    yield Section(
        "Beyond the paper: nDCG, RBP and ERR",
        BEYOND,
        [
            *_reordering(
                tables, [chain.name for chain in CHAINS[1:]], "beyond", "by nDCG, RBP, ERR"
            ),
            "beyond_delta_sort*",
            "beyond_tau_b*",
        ],
    )
    yield Section(
        "Differences of ASL",
        f"Differences of means, less is better, with {CONFIDENCE:.0%} bootstrap "
        f"intervals over queries ({options.resamples:,} resamples). The best, second and median "
        f"system are by {options.best_by or 'the measure of the row'}.",
    )
    yield _effective_fraction(tables)
    yield Section(
        "Effect of depth (footnote 6)",
        "The maximum length of lists differs by track. Here all lists are cut at "
        f"{options.cut_depth}: docs below are not retrieved. The cut bounds ASL, so compare the "
        "orders of systems and not the values.",
        ["depth_sensitivity", "cut_lists*"],
    )


def _reordering(tables: Tables, chains: Sequence[str], name: str, what: str) -> Iterator[Show]:
    """Yield Table 2 of some chains, with both choices for docs not retrieved side by side."""
    averaged = tables["reordering"]["track"].unique(maintain_order=True).to_list()
    tracks = listed(averaged, NAMED_IN_PRINT) if averaged else "no track"
    for suffix, number, over, columns in (
        ("", "Reordering of systems by", f"mean over {tracks}", ("delta_sort", "tau")),
        ("_values", "New over old values of systems with", f"mean over all systems of {tracks}",
         ("delta_value", "delta_value_median")),
    ):  # fmt: skip
        caption = (
            f"{number} search length, step by step {what}: {over}, in brackets minus and plus one "
            "standard deviation. Docs that a list misses have the length of Eq. 3, at least 1 "
            "(floor), or that of rank D + 1 below all lists (depth)."
        )
        shown = ("change", "unretrieved", *columns)
        yield Show("table_2", shown, {"chain": chains}, "unretrieved", f"{name}{suffix}", caption)


def _headroom(tables: Tables, options: Options) -> Section:
    text = (
        "The best system of each track by four measures. P@20 and AP (its mean is MAP) reflect "
        "what a user sees, ASL@g10 the first ten relevant docs, ASL all relevant docs. The paper "
        "does not state its buckets; these are chosen by irmeta."
    )
    if options.best_by:
        text += f" The best system is here the best by {options.best_by}."
    short = tables["headroom"].filter(measure=options.asl())
    notes = []
    if tracks := short["short"].sum():
        notes.append(
            f"On {tracks} of {count(short.height, 'track')} the best system by {options.asl()} "
            "misses more relevant docs than the median system (\u2020): Eq. 3 gives a short length "
            f"to docs that a short list misses. {options.deep[options.asl()]} counts them as "
            "if at rank D + 1, below the track's deepest rank D."
        )
    best = Show("headroom", ("track", "measure", "value", "median", "system"), pivot="measure")
    shown = ["classes", best, "best_by_choice", "figure_*", "headroom_*"]
    return Section("Headroom (Section 4.2)", text, shown, notes=notes)


def _two_techniques(tables: Tables, options: Options) -> Section:
    text = f"Two systems of each track: {options.baseline} and {options.contender}. "
    used = tables["studied_tracks"].filter("used")
    rows = used.select("track", "systems", "queries").iter_rows()
    printed = table_1_beside({track: (systems, queries) for track, systems, queries in rows})
    if {options.baseline, options.contender} <= set(SIDE_ROLES):
        by = options.best_by or "ASL"
        text = f"The median system by {by} and the best by {options.best_by or 'each measure'}. "
        text += "(--baseline and --contender name two groups or systems.) "
        printed = {}  # the paper's are of BM25 and of a neural system
    text += (
        "RRIE is the improvement of the second over the first, as a share of the first's distance "
        "from a perfect system (Eqs. 11 and 12)."
    )
    missing = tracks_without(tables, tables["table_1"], not_compared(tables))
    notes = [f"No system for one of the two sides: {missing}."] if missing else []
    shown = [Show("table_1", printed=printed)]
    return Section("Two techniques (Section 4.3, Table 1)", text, shown, notes=notes)


def _effective_fraction(tables: Tables) -> Section:
    row = tables["effective_summary"].row(0, named=True)
    text = (
        "An unweighted mean of precisions is a weighted mean of search lengths (Eqs. 14 and 15). "
    )
    if row["tracks"]:
        text += (
            f"It is nearest to the plain mean over the top {_percent(row, 'fraction')} of the "
            f"relevant docs, over {count(row['tracks'], 'track')} (the paper: "
            f"{EFFECTIVE_FRACTION.value}). Over the pooled queries of a run, where each doc of a "
            "query with n relevant docs has the weight 1/n, as in MAP, the share is "
            f"{_percent(row, 'pooled')}."
        )
    else:
        text += "No system retrieves a relevant doc, so the share is undefined."
    trivial = tables["effective_by_track"].filter("trivial")["track"]
    notes = [
        f"{track} is excluded from the mean: no query has two relevant docs, so the share is 100%."
        for track in trivial
    ]
    shown = ["effective_by_track", "averaged_by_ap"]
    return Section("Docs that MAP averages (Appendix A.1)", text, shown, notes=notes)


def _percent(row: dict[str, float], name: str) -> str:
    mean, sd = row[name], row[f"{name}_sd"]
    return f"{mean:.0%}" + ("" if sd != sd else f" \u00b1 {100 * sd:.0f}")


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the figures of one track, with a note if its best system has short lists."""
    asl, notes = options.asl(), []
    best = {row["measure"]: row for row in tables["best_by_choice"].iter_rows(named=True)}
    row, deep = best.get(asl), best.get(options.deep[asl])
    if row is not None and deep is not None and row["short"] and deep is not row:
        same = deep["system"] == row["system"]
        notes.append(
            f"{row['system']}, the best by {asl}, does not retrieve {row['missed']:.0%} of the "
            f"relevant docs; half of the systems miss less than {row['median_missed']:.0%}. Eq. 3 "
            "gives a short length to docs that a short list misses: by "
            f"{options.deep[asl]} the best is {'the same' if same else deep['system']}."
        )
    return Section(track, show=["*"], notes=notes)
