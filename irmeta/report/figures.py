"""Figures of results: search lengths, rarity, differences, tests, judges, reruns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.curves import falling_curves
from irmeta.report.charts.heat import heat_map
from irmeta.report.charts.histogram import (
    ENDLESS,
    Corner,
    bucket_name,
    corner_texts,
    histogram,
)
from irmeta.report.charts.panes import legend, linear_ticks
from irmeta.report.charts.row_charts import RowPlaces, intervals
from irmeta.report.theme import (
    BLUE,
    CONFIG,
    INK,
    MUTED,
    NARROW,
    PALE_BLUE,
    PALE_GREY,
    PALE_RED,
    RULE,
    VERMILLION,
    WIDTH,
    finish,
    nothing,
    text_width,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt


def judge_intervals(judges: pl.DataFrame, coefficient: str) -> alt.LayerChart:
    """Draw a coefficient of each judge with its 95 % interval, the greatest first.

    `judges` is one track of `JudgeAgreement.judges`, with the columns COEFFICIENT, _low and _high.
    """
    ends = {"low": f"{coefficient}_low", "high": f"{coefficient}_high"}
    title = coefficient.replace("_", " ")
    docs = judges["docs"].max()
    return intervals(
        judges.select(row="judge", value=coefficient, **ends),
        title=f"Agreement with {judges['reference'][0]}: {title}",
        subtitle=f"up to {docs:,} docs; lines: 95 % intervals over queries",
        x_title=title,
        empty=f"No judge has a value of {title}: their scales differ.",
    )


def confusion_map(confusion: pl.DataFrame) -> alt.LayerChart:
    """Draw the docs by grade of the reference, down, and of one judge, across.

    `confusion` is one track and judge of `JudgeAgreement.confusion`. The colour is the share of the
    docs of the reference's grade.
    """
    columns = ("reference_grade", "judge_grade")
    grades = [confusion[name].unique().sort() for name in columns]
    every = grades[0].to_frame().join(grades[1].to_frame(), how="cross")
    cells = every.join(confusion, on=columns, how="left").with_columns(pl.col("docs").fill_null(0))
    down, across = (pl.col(name).map_elements("{:g}".format, pl.String) for name in columns)
    cells = cells.select(
        down.alias("down"),
        across.alias("across"),
        value=pl.col("docs") / pl.col("docs").sum().over("reference_grade"),
        text=pl.col("docs").map_elements(lambda docs: f"{docs:,}", pl.String),
    )
    name = pl.format("reference {}, judge {}", "down", "across")
    return heat_map(
        cells.with_columns(name=name),
        title=f"Grades of {confusion['judge'][0]}, across, and of the reference",
        subtitle="docs; colour: share of the docs of a reference's grade",
    )


SATURATED = 6.0
"""Ratio of the fullest bucket to the second fullest from which the axis of docs is logarithmic."""
RARITY_BARS = 40  # largest number of systems with one bar each
ROLES_WITHOUT_MEANING = ("first", "second")
"""Roles of two systems in a table of differences, which figures replace by their names."""
RETRIEVED = {"plain": (BLUE, ""), "missed": (VERMILLION, "")}


def length_histogram(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw the distribution of search lengths of relevant docs (Figure 5 of the ASL paper).

    `frame` has a row a bucket: low, high (both inside; null: docs that are not retrieved), docs.
    """
    bars = frame.sort(pl.col("low").is_null(), "low")
    labels = [
        "not|retrieved" if low is None else bucket_name(low, high, "d")
        for low, high in bars.select("low", "high").iter_rows()
    ]
    total = int(bars["docs"].sum())
    missed = int(bars.filter(pl.col("low").is_null())["docs"].sum())
    retrieved = bars.drop_nulls("low")["docs"]
    fullest = [*retrieved.sort(descending=True).head(2), 0, 0]
    kind = pl.when(pl.col("low").is_null()).then(pl.lit("missed")).otherwise(pl.lit("plain"))
    return histogram(
        bars.select(pl.Series("bucket", labels), pl.col("docs").alias("count"), kind.alias("kind")),
        title=title,
        subtitle=f"{total:,} relevant docs; {missed:,} ({share(missed, total)}) not retrieved"
        + _widening(bars),
        x_title="search length (non-relevant docs above, plus 1)",
        kinds=RETRIEVED,
        log=0 < fullest[1] < fullest[0] / SATURATED,
    )


def length_differences(
    frame: pl.DataFrame, title: str, systems: tuple[str, str], roles: tuple[str, str]
) -> alt.LayerChart:
    """Draw docs by the difference of their search length in two systems (Figure 6 of the paper).

    A difference is the length in the first less that in the second. `frame` has the columns low,
    high (both inside the bucket), docs, and retrieved: ``both``, the role of the only system that
    retrieves the docs, or ``neither``, whose docs are drawn but are no wins or ties. The roles
    ``first`` and ``second`` say nothing of systems, which texts then call by name.
    """
    bars = frame.sort("low")
    buckets = [bucket_name(low, high, "d") for low, high in bars.select("low", "high").iter_rows()]
    retrieved = bars.filter(pl.col("retrieved") != "neither")
    total, compared, tied = (
        int(f["docs"].sum()) for f in (bars, retrieved, retrieved.filter(low=0))
    )
    missed = total - compared
    is_named = roles == ROLES_WITHOUT_MEANING
    called = systems if is_named else tuple(f"the {role}" for role in roles)
    kinds = {
        "both": (BLUE, "both retrieve the doc"),
        roles[0]: (PALE_BLUE, f"only {called[0]}"),
        roles[1]: (PALE_RED, f"only {called[1]}"),
        "neither": (PALE_GREY, "neither"),
    }

    def corner(side: int, wins: pl.Expr, colour: str) -> Corner:
        won = retrieved.filter(wins)
        alone = won.filter(retrieved=roles[side])
        docs, only = (int(f["docs"].sum()) for f in (won, alone))
        winner = systems[side] if is_named else roles[side]
        below = [] if is_named else [systems[side]]
        text = f"{winner} wins: {docs:,} ({share(docs, compared)})"
        return Corner(text, [*below, f"{only:,} of them retrieved only there"], colour)

    return histogram(
        bars.select(
            pl.Series("bucket", buckets, dtype=pl.String),
            pl.col("docs").alias("count"),
            pl.col("retrieved").alias("kind"),
        ),
        title=title,
        subtitle=f"{compared:,} relevant docs that a system retrieves; ties: {tied:,} "
        f"({share(tied, compared)})"
        + (f"; not counted: {missed:,} that neither retrieves" if missed else "")
        + _widening(bars),
        x_title=f"search length in {called[0]}{'' if is_named else ' system'} minus that in "
        f"{called[1]} (docs)",
        kinds=kinds,
        corners=(corner(0, pl.col("high") < 0, BLUE), corner(1, pl.col("low") > 0, VERMILLION)),
    )


def _widening(bars: pl.DataFrame) -> str:
    """Return a warning for the subtitle if the buckets differ in width."""
    closed = bars.filter(pl.col("low") != 0, pl.col("high") < ENDLESS)
    widths = closed.select((pl.col("high") - pl.col("low")).n_unique()).item()
    return "; wider buckets further out" if widths > 1 else ""


def rarity_histogram(
    frame: pl.DataFrame, counted: str = "systems", track: str = ""
) -> alt.LayerChart:
    """Draw the distribution of the number of systems, or what `counted` names, with a doc.

    `frame` has the columns retrieved_by (from 0) and docs; missing rows have no docs. Above 40
    systems the bars are ranges of equal width, and a separate bar for 0.
    """
    counts = frame.select(pl.col("retrieved_by").cast(pl.Int64), "docs")
    most = max(counts["retrieved_by"].to_list(), default=0)
    widths = (digit * 10**power // 10 for power in range(1, 10) for digit in (5, 10, 20))
    width = 1 if most <= RARITY_BARS else next(n for n in widths if most <= 16 * n)
    number = pl.col("retrieved_by")
    low = pl.when(number == 0).then(0).otherwise((number - 1) // width * width + 1)
    every = pl.DataFrame({"retrieved_by": range(most + 1)}, schema={"retrieved_by": pl.Int64})
    bars = (
        every.join(counts, on="retrieved_by", how="left", maintain_order="left")
        .group_by(low.alias("low"), maintain_order=True)
        .agg(number.max().alias("high"), pl.col("docs").sum())
    )
    buckets = [bucket_name(low, high, "d") for low, high in bars.select("low", "high").iter_rows()]
    kind = pl.when(pl.col("high") == 0).then(pl.lit("missed")).otherwise(pl.lit("plain"))
    total, asked = int(counts["docs"].sum()), f"many {counted} retrieve a relevant doc"
    lost, unique = (int(counts.filter(number == n)["docs"].sum()) for n in (0, 1))
    return histogram(
        bars.select(
            pl.Series("bucket", buckets, dtype=pl.String),
            pl.col("docs").alias("count"),
            kind.alias("kind"),
        ),
        title=f"{track}: how {asked}" if track else f"How {asked}",
        subtitle=(
            f"{total:,} relevant docs; {lost:,} ({share(lost, total)}) retrieved by none,"
            f" {unique:,} ({share(unique, total)}) by one alone"
        ),
        x_title=f"{counted} that retrieve the doc",
        kinds=RETRIEVED,
    )


def share(part: int, total: int) -> str:
    """Format a share in percent; small shares are "<1%"."""
    value = part / total if total else 0
    return "<1%" if 0 < value < 0.01 else f"{value:.0%}"


LABEL_FONT, LABEL_ROOM = 9, 10  # pixels of a label's text, and of its line
MOST_BARS = 400  # more would be thinner than a pixel
MOST_BINS, TAILS = 60, 5  # of a density, and queries named on either side


def difference_bars(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw a bar for each query, the queries in the order of a frame of `query_differences`.

    Labels below are queries with their numbers of relevant docs, where they are known. Of queries
    that leave no room for all labels, every second, third, ... has one. Of more than 400 queries
    the differences are drawn as a density, with the names of the 5 largest on either side.
    """
    import altair as alt

    bars = frame.filter(pl.col("difference").is_not_nan())
    if bars.is_empty():
        return nothing("No query has a value of both systems.")
    measure, system, baseline = bars.select("measure", "system", "baseline").row(0)
    wins, losses = (int((bars["better"] == name).sum()) for name in (system, baseline))
    sides = {system: f"{system} better: {wins:,}", baseline: f"{baseline} better: {losses:,}"}
    rows = bars.select(
        pl.int_range(pl.len()).alias("place"),
        pl.when(pl.col("relevant").is_null())
        .then("query")
        .otherwise(pl.format("{} ({})", "query", "relevant"))
        .alias("label"),
        "difference",
        pl.col("better").replace_strict(sides, return_dtype=pl.String).alias("side"),
    )
    if rows.height > MOST_BARS:
        axis = f"{measure}: {system} minus {baseline}"
        return _difference_density(rows, sides, title, axis)
    known = rows.height - bars["relevant"].null_count()
    x_title = f"query{' (relevant docs)' if known else ''}, the most in favour of {system} first"
    x = alt.X(
        "place:Q",
        title=x_title,
        scale=alt.Scale(domain=[-0.5, rows.height - 0.5], nice=False, zero=False),
        axis=_labels(rows["label"].to_list()),
    )
    y = alt.Y("difference:Q", title=f"{measure}: {system} minus {baseline}")
    labels = list(sides.values())
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=labels, range=[BLUE, VERMILLION]),
        legend=legend(labels),
    )
    said = "datum.label + ': ' + format(datum.difference, '+.4f')"
    marks = alt.Chart(alt.NamedData("bars")).mark_bar(size=0.8 * NARROW / rows.height)
    marks = marks.transform_calculate(said=said).encode(
        x, y, colour, tooltip=alt.Tooltip("said:N", title=" "), description="said:N"
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.Y("zero:Q"))
    chart: Any = alt.layer(marks, zero)
    chart.datasets = {"bars": rows.to_dicts()}
    ties = rows.height - wins - losses
    queries = "1 query" if rows.height == 1 else f"{rows.height:,} queries"
    subtitle = f"{queries}, {ties:,} with equal values"
    return finish(chart, height=240, title=title, subtitle=subtitle)


def _difference_density(
    rows: pl.DataFrame, sides: dict[str, str], title: str, x_title: str
) -> alt.LayerChart:
    """Draw how many queries have each difference, and name those at both ends.

    `rows` has label, difference and side, one of `sides` (null: equal values, not drawn).
    """
    import altair as alt

    drawn = rows.drop_nulls("side").sort("difference", maintain_order=True)
    if drawn.is_empty():
        return nothing(f"{title}: both systems have equal values on all {rows.height:,} queries.")
    colours = dict(zip(sides.values(), (BLUE, VERMILLION), strict=True))
    low, high = drawn["difference"][0], drawn["difference"][-1]
    steps = (digit * 10.0**power for power in range(-12, 12) for digit in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= MOST_BINS - 2)
    place = (pl.col("difference") / step + 1e-9).floor().cast(pl.Int64)
    bins = drawn.group_by("side", place=place).agg(queries=pl.len()).sort("place", "side")
    bins = bins.with_columns(
        low=pl.col("place") * step,
        high=(pl.col("place") + 1) * step,
        zero=0,
        colour=pl.col("side").replace_strict(colours, return_dtype=pl.String),
    ).with_columns(
        said=pl.format("{} to {}: {}", *(pl.col(n).round(9) for n in ("low", "high")), "queries")
    )
    top = bins["queries"].to_list()
    scale = alt.Scale(domain=[0, max(top) * 1.65], nice=False)  # room for the names
    bars = alt.Chart(bins).mark_rect()  # a white stroke would hide bars of a single query
    bars = bars.encode(
        alt.X("low:Q", title=x_title, scale=alt.Scale(zero=False), axis=alt.Axis(format="~g")),
        alt.X2("high:Q"),
        alt.Y(
            "queries:Q",
            title="queries",
            scale=scale,
            axis=alt.Axis(values=whole_ticks(max(top)), format=",d"),
        ),
        alt.Y2("zero:Q"),
        color=alt.Color("colour:N", scale=None),
        tooltip=alt.Tooltip("said:N", title=" "),
        description="said:N",
    )
    rule = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.X("zero:Q"))
    layers: list[Any] = [bars, rule]
    negative = drawn.filter(pl.col("difference") < 0)
    positive = drawn.filter(pl.col("difference") > 0).reverse()
    for tail, align in ((negative, "left"), (positive, "right")):
        if tail.height:
            side = tail["side"][0]
            below = [
                f"{label}: {difference:+.3g}".replace("-", "\u2212")
                for label, difference in tail.head(TAILS).select("label", "difference").iter_rows()
            ]
            layers += corner_texts(Corner(side, below, colours[side]), align)
    ties = rows.height - drawn.height
    subtitle = f"{rows.height:,} queries; {ties:,} with equal values, not drawn"
    subtitle += "; named: the largest differences"
    return finish(alt.layer(*layers), height=260, title=title, subtitle=subtitle)


def _labels(labels: list[str]) -> alt.Axis:
    """Return an axis with as many upright labels as fit."""
    import altair as alt

    step = -(-len(labels) * LABEL_ROOM // NARROW)
    shown = {place: labels[place] for place in range(0, len(labels), step)}
    longest = max(text_width(label, LABEL_FONT) for label in shown.values())
    is_upright = longest * len(shown) > NARROW
    return alt.Axis(
        values=list(shown),
        labelExpr=f"{json.dumps({str(place): text for place, text in shown.items()})}[datum.value]",
        labelAngle=-90 if is_upright else 0,
        labelAlign="right" if is_upright else "center",
        labelBaseline="middle" if is_upright else "top",
        labelFontSize=LABEL_FONT,
        labelOverlap=False,
        labelLimit=160,
        grid=False,
        ticks=False,
    )


def rerun_intervals(
    rows: pl.DataFrame, value: str, reproduced: float, original: str
) -> alt.LayerChart:
    """Draw a value of each rerun with its 95 % interval, and a rule at its value if reproduced.

    `rows` are `Reproduction.runs` or `Reproduction.effects`, with the columns VALUE, _low and
    _high.
    """
    runs = ("rerun",) if "rerun" in rows.columns else ("baseline", "advanced")
    several = [
        name
        for name in ("measure", "qrels")
        if rows.get_column(name, default=rows[:, 0]).n_unique() > 1
    ]
    label = pl.concat_str(pl.concat_str(*runs, separator=", "), *several, separator=" ")
    title = value.replace("_", " ")
    by = "" if several else f" of {rows['measure'][0]}"
    return intervals(
        rows.select(row=label, value=value, low=f"{value}_low", high=f"{value}_high"),
        title=f"Reruns of {original}: {title}{by}",
        subtitle=f"rule: {reproduced:g}, reproduced; lines: 95 % intervals over queries",
        x_title=title,
        empty=f"No rerun has a value of {title}.",
        mark=reproduced,
        always=True,
    )


BOTH_NAMED = 22  # largest number of systems with a name on both axes
ALL_NAMED = 40  # largest number of systems that all have a name
BEST_NAMED, NEAR_NAMED = 20, 5  # named systems of more: the best, and either side of the baseline
SHOWN = 0.15  # greatest p-value that is drawn
DIFFERENT, UNCLEAR = "significantly different", "not significantly different"


def pairwise_significance(
    frame: pl.DataFrame, systems: Sequence[str], title: str, alpha: float, correction: str = ""
) -> alt.LayerChart:
    """Draw the significantly different pairs of systems, ordered by their means.

    `frame` has the columns system_a, system_b, p_adjusted (NaN: undefined), one row per unordered
    pair. Up to 22 systems have their names on both axes. Of more, each row is a system and the
    systems below it by mean, across, have their ranks; of more than 40, the best 20 have a name and
    a high row.
    """
    if len(systems) < 2:
        return nothing("There is one system, and none to compare it with.")
    index = {name: i for i, name in enumerate(systems)}
    different = {
        tuple(sorted((index[a], index[b])))
        for a, b, p in frame.select("system_a", "system_b", "p_adjusted").iter_rows()
        if p is not None and p <= alpha
    }
    size = len(systems)
    is_square = size <= BOTH_NAMED
    chart: Any = (_named_square if is_square else _named_rows)(systems, different)
    pairs = size * (size - 1) // 2
    share = f"{len(different):,} of {pairs:,} pairs ({100 * len(different) / pairs:.1f}%)"
    subtitle = f"{share} differ ({_level(alpha, correction)}); systems by their means"
    if untested := int(frame["p_adjusted"].is_nan().sum()):
        subtitle += f"; {untested:,} cannot be tested"
    if size > ALL_NAMED:
        subtitle += f", the best {BEST_NAMED} with their names"
    height = max(140, 17 * size) if is_square else chart.height
    return finish(chart, height=height, title=title, subtitle=subtitle)


def _level(alpha: float, correction: str) -> str:
    return ", ".join(part for part in (f"p <= {alpha:g}", correction) if part)


def _legend(orient: Any) -> dict[str, Any]:
    import altair as alt

    return {
        "scale": alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, RULE]),
        "legend": alt.Legend(title=None, orient=orient),
    }


def _named_square(systems: Sequence[str], different: set[tuple[int, ...]]) -> alt.LayerChart:
    """Draw a row for each system but the first, and a column for each but the last."""
    import altair as alt

    rows = (
        {"row": systems[row], "column": systems[column], "is": kind}
        for row in range(1, len(systems))
        for column, kind in enumerate(_kinds(row, range(row), different))
    )
    axis: dict[str, Any] = {"labelOverlap": False, "grid": False, "ticks": False, "domain": False}
    scale = alt.Scale(paddingInner=0, paddingOuter=0)
    chart = alt.Chart(pl.DataFrame(list(rows))).mark_rect(stroke="white", strokeWidth=1)
    cells: Any = alt.layer(
        chart.encode(
            alt.X("column:N", sort=None, title=None, scale=scale,
                  axis=alt.Axis(labelAngle=-40, **axis)),
            alt.Y("row:N", sort=None, title=None, scale=scale, axis=alt.Axis(**axis)),
            alt.Color("is:N", **_legend("top-right")),
        )
    )  # fmt: skip
    return cells


def _named_rows(systems: Sequence[str], different: set[tuple[int, ...]]) -> alt.LayerChart:
    """Draw a row for each system, with the systems below it as columns by rank."""
    import altair as alt

    size = len(systems)
    named = range(size if size <= ALL_NAMED else BEST_NAMED)
    places = RowPlaces(systems, named, numbered=True)
    rows = places.frame().with_columns(row=pl.int_range(pl.len()))
    strips = pl.DataFrame(
        list(_strips(size, different)),
        schema={"row": pl.Int64, "start": pl.Float64, "stop": pl.Float64, "is": pl.String},
        orient="row",
    )
    x = alt.X(
        "start:Q",
        title="rank of the other system",
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=linear_ticks(1, size, whole=True), format=",d", grid=False),
    )
    marks = alt.Chart(alt.NamedData("strips")).mark_rect(stroke="white", strokeWidth=30 / size)
    chart: Any = alt.layer(
        marks.encode(
            x, alt.X2("stop:Q"), places.channel("top:Q"), alt.Y2("bottom:Q"),
            alt.Color("is:N", **_legend("bottom-left")),
        )
    )  # fmt: skip
    # inline, because altair refuses more than 5,000 rows
    chart.datasets = {"strips": strips.join(rows, on="row", maintain_order="left").to_dicts()}
    chart.height = places.height
    return chart


def _kinds(row: int, columns: Sequence[int], different: set[tuple[int, ...]]) -> Iterator[str]:
    for column in columns:
        pair = (min(row, column), max(row, column))
        yield DIFFERENT if pair in different else UNCLEAR


def _strips(size: int, different: set[tuple[int, ...]]) -> Iterator[tuple[int, float, float, str]]:
    """Merge neighbouring cells of one kind into strips, so that 143 systems make a small figure.

    A strip is a row, the ends of its ranks, and its kind.
    """
    for row in range(size - 1):
        columns = range(row + 1, size)
        cells = zip(columns, _kinds(row, columns, different), strict=True)
        for kind, run in groupby(cells, key=lambda cell: cell[1]):
            strip = [column for column, _ in run]
            yield row, strip[0] + 0.5, strip[-1] + 1.5, kind


def achieved_significance(
    frame: pl.DataFrame, levels: Sequence[float], title: str, correction: str = ""
) -> alt.LayerChart:
    """Draw the sorted p-values of all pairs of systems; curves closer to the axes have more power.

    `frame` has the columns measure, rank (from 1, by p from the greatest down), p; `levels` are
    lines.
    """
    top = SHOWN if max(levels, default=0.0) <= SHOWN / 2 else 1.0
    lowest = frame.group_by("measure").agg(pl.col("p").min())["p"]
    top = top if (lowest <= top).all() else 1.0
    text = " and ".join(f"{level:g}" for level in levels)
    pairs = frame["rank"].max() or 0
    shown = f"p-values of {pairs:,} pairs{f', {correction}' if correction else ''}"
    shown += f", up to {top:g}" * (top < 1)
    return falling_curves(
        frame.select(pl.col("measure").alias("name"), pl.col("rank").alias("x"), y="p"),
        top=top,
        title=title,
        subtitle=f"{shown}; dashed: {text}",
        x_title="pairs of systems, the greatest p-value first",
        y_title="p-value",
        levels=levels,
    )


def baseline_differences(
    frame: pl.DataFrame, baseline: str, title: str, alpha: float, correction: str = ""
) -> alt.LayerChart:
    """Draw the difference of each system from a baseline, with its interval.

    `frame` has the columns system, difference, low, high, interval (null: none), verdict, of
    one-sided tests alternative; best system first. Of more than 40 systems, the best 10, five
    either side of the baseline and the worst have a name and a high row.
    """
    import altair as alt

    place = frame["system"].to_list().index(baseline) if baseline in frame["system"] else 0
    is_drawn = (pl.col("verdict") != "baseline") & pl.col("difference").is_not_nan()
    above = frame.head(place).filter(is_drawn).height
    rows = frame.filter(is_drawn)
    if rows.is_empty():
        return nothing(f"No system has a difference from {baseline}.")
    ends = pl.col("low", "high").replace([float("inf"), float("-inf"), float("nan")], None)
    is_one_sided = "alternative" in frame.columns
    if is_one_sided:  # a line from the limit to the difference
        ends = ends.fill_null(pl.col("difference"))
    is_unclear = ~pl.col("verdict").is_in(["better", "worse"])
    kind = pl.when(is_unclear).then(pl.lit(UNCLEAR)).otherwise(pl.lit(DIFFERENT)).alias("is")
    places = RowPlaces(rows["system"].to_list(), _named_systems(rows.height, above))
    shown = rows.select("difference", ends, kind).hstack(places.frame())
    colour = alt.Color(
        "is:N",
        scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, MUTED]),
        legend=alt.Legend(title=None, orient="top", direction="horizontal"),
    )
    size = alt.SizeValue(12, condition={"test": "datum.tall", "value": 56})
    base = alt.Chart(shown).encode(places.channel("middle:Q"), colour)
    x = alt.X(
        "difference:Q",
        title=f"mean difference from {baseline}",
        axis=alt.Axis(tickCount=5, labelSeparation=6),
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.X("zero:Q"))
    intervals = base.mark_rule().encode(
        alt.X("low:Q"), alt.X2("high:Q"),
        strokeWidth=alt.StrokeWidthValue(0.7, condition={"test": "datum.tall", "value": 1.5}),
    )  # fmt: skip
    dots = base.mark_point(filled=True, opacity=1).encode(
        x, size,
        alt.Shape("is:N", scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=["circle", "square"])),
    )  # fmt: skip
    different = rows.filter(~is_unclear).height
    subtitle = f"{different:,} of {rows.height:,} differ ({_level(alpha, correction)}); best first"
    if untested := int(rows["verdict"].str.starts_with("cannot").sum()):
        subtitle += f"; {untested:,} cannot be tested"
    if (interval := rows["interval"][0]) is not None:
        what = "confidence limits of one side" if is_one_sided else "confidence intervals"
        subtitle += f"; lines: {interval} {100 * (1 - alpha):g}% {what}"
    chart = alt.layer(zero, intervals, dots)
    return finish(chart, height=places.height + 8, title=title, subtitle=subtitle)


def _named_systems(size: int, above: int) -> set[int]:
    """Return the systems with a name, of which `above` precede the baseline."""
    if size <= ALL_NAMED:
        return set(range(size))
    near = range(max(0, above - NEAR_NAMED), min(size, above + NEAR_NAMED))
    return {*range(BEST_NAMED - 2 * NEAR_NAMED), *near, size - 1}


DOC_CELLS = ("query", "grade", "rank", "doc")
MOST_BYTES = 1_500_000  # of the docs that the chart carries
BAR_DOCS = (20, 10, 5, 2, 1)  # of a bar, as many of these as the bytes allow
MOST_DOCS = BAR_DOCS[0]


def browser(bars: list[dict[str, Any]], buckets: Sequence[str]) -> alt.VConcatChart:
    """Draw bars above a table; the caller adds the parameter `system`, which both read.

    `bars` has system, bucket, docs, and shown, a list of rows of four cells, the first the heads.
    The last of `buckets` holds the docs not retrieved.
    """
    import altair as alt

    first: Any = [{"bucket": buckets[0]}]
    clicked = alt.selection_point("bar", fields=["bucket"], toggle=False, value=first)
    base = alt.Chart().transform_filter("datum.system == system")
    top = base.encode(
        alt.X("bucket:N", title="search length").scale(domain=buckets).axis(labelAngle=-45),
        alt.Y("docs:Q", title="relevant docs").axis(format=",d", tickMinStep=1),
    )
    hue = alt.condition(f"datum.bucket == '{buckets[-1]}'", alt.value(VERMILLION), alt.value(BLUE))
    faint = alt.condition(clicked, alt.value(1), alt.value(0.5))
    drawn = top.mark_bar(cursor="pointer").encode(color=hue, opacity=faint).add_params(clicked)
    counts = top.mark_text(dy=-6).encode(text=alt.Text("docs:Q", format=",d"))
    lines = base.transform_filter({"param": "bar", "empty": False})
    lines = lines.transform_flatten(["shown"], ["line"]).transform_window(row="row_number()")
    weight = alt.expr("datum.row == 1 ? 'bold' : 'normal'")
    table = [
        lines.transform_calculate(text=f"datum.line[{i}]")
        .mark_text(align="left", limit=width, fontWeight=weight)
        .encode(alt.Y("row:O", axis=None), alt.XValue(x), alt.Text("text:N"))
        for i, (x, width) in enumerate(((0, 90), (100, 40), (150, 50), (210, WIDTH - 210)))
    ]
    chart = alt.vconcat(
        alt.layer(drawn, counts).properties(width=WIDTH, height=230),
        alt.layer(*table).properties(width=WIDTH, height=alt.Step(15)),
    )
    return chart.properties(data=alt.InlineData(bars)).configure(**CONFIG)


def fitting_bars(bars: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return the bars with as many docs as the bytes allow, and the greatest number of docs."""
    fitting, most = bars, 0
    for most in BAR_DOCS:
        fitting = [bar | {"shown": [DOC_CELLS, *bar["shown"][:most]]} for bar in bars]
        if len(json.dumps(fitting)) <= MOST_BYTES:
            break
    return fitting, most
