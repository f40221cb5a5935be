"""Maps of shaded cells: heat maps, surfaces over two ranks, and tables of graded cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import Datasets, arrange, axis_room, heading, legend, pane_width
from irmeta.report.theme import (
    BLUE,
    INK,
    MUTED,
    PALE_BLUE,
    PALE_RED,
    PRINT_WIDTH,
    RULE,
    TEXT_WIDTH,
    VERMILLION,
    WIDTH,
    described,
    either,
    finish,
    nothing,
    text_width,
)

if TYPE_CHECKING:
    import altair as alt


BANDS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Lower bounds of the bands of correlations in volatility matrices."""
# from viridis: equal steps of lightness, so that bands differ in grey too
SHADES = ("#fde725", "#7ad151", "#22a884", "#2a788e", "#414487", "#440154")
UNDEFINED, UNKNOWN, MINUS = "undefined", "\u2014", "\u2212"
FONTS = (12, 10.5, 9)
ROOM, TITLE = 26, 19  # pixels for the labels of a y axis, and for its title


def heat_map(cells: pl.DataFrame, *, title: str, subtitle: str) -> alt.LayerChart:
    """Draw values between -1 and 1, with their numbers in the cells.

    `cells` has the columns across, down (in the order in which they first appear), value (null or
    NaN: a dash), name (under the pointer) and optionally text, which is printed instead of the
    number.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: nothing to compare.")
    cells = cells.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None))
    cells, font = _with_texts(cells)
    across, down = (cells[c].unique(maintain_order=True).to_list() for c in ("across", "down"))
    signed = bool((cells["value"] < 0).any())
    labels = alt.Axis(labelAngle=-40, ticks=False, domain=False)
    tight = alt.Scale(padding=0)
    base = alt.Chart(cells).encode(
        alt.X("across:N", sort=across, title=None, axis=labels, scale=tight),
        alt.Y("down:N", sort=down, title=None, scale=tight),
    )
    ramp = alt.Scale(
        scheme="blueorange" if signed else "blues", domain=[-1 if signed else 0, 1], reverse=signed
    )
    cell = base.mark_rect(stroke="white", strokeWidth=2)
    blank = base.mark_rect(stroke="white", strokeWidth=2, color=RULE, aria=False)
    heat = described(cell, "name", "value", ".4f").encode(
        alt.Color("value:Q", scale=ramp, legend=None)
    )
    numbers = base.mark_text(fontSize=font).encode(
        alt.Text("text:N"), color=either("abs(datum.value) > 0.65", "white", INK)
    )
    return finish(
        alt.layer(blank, heat, numbers),
        height=max(18, min(38, 420 // (max(len(across), len(down)) + 1))) * len(down),
        title=title,
        subtitle=subtitle,
    )


def _with_texts(cells: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """Return cells with a column of texts, and the largest font in which they fit in print."""
    numbers = [UNKNOWN if v is None else f"{v:z.2f}".replace("-", MINUS) for v in cells["value"]]
    texts = pl.Series("number", numbers, dtype=pl.String)
    if "text" in cells.columns:
        texts = pl.select(pl.coalesce(cells["text"], texts)).to_series()
    labels = max(text_width(name, 11) for name in cells["down"])
    room = (PRINT_WIDTH - min(labels, 190) - 16) / cells["across"].n_unique() - 4
    short = texts.str.replace(r"^(\u2212?)0\.", "${1}.").str.replace(r"^(\u2212?)1\.0+$", "${1}1")
    for shown in (texts, short):
        for font in FONTS:
            if max(text_width(text, font) for text in shown) <= room:
                return cells.with_columns(text=shown), font
    return cells.with_columns(text=shown), FONTS[-1]


def lower_triangle(pairs: pl.DataFrame, a: str, b: str, value: str) -> pl.DataFrame:
    """Return each unordered pair once, as cells of `heat_map`; the later name is the row."""
    labels = pl.concat([pairs[a], pairs[b]]).unique(maintain_order=True)
    index = {name: n for n, name in enumerate(labels)}
    at_a, at_b = (pl.col(c).replace_strict(index, return_dtype=pl.Int64) for c in (a, b))
    return (
        pairs.filter(at_a != at_b)
        .select(
            pl.when(at_a < at_b).then(a).otherwise(b).alias("across"),
            pl.when(at_a < at_b).then(b).otherwise(a).alias("down"),
            pl.col(value).alias("value"),
        )
        .unique(["across", "down"], keep="first", maintain_order=True)
        .with_columns(name=pl.format("{} and {}", "across", "down"))
        .sort(pl.col("down").replace_strict(index, return_dtype=pl.Int64),
              pl.col("across").replace_strict(index, return_dtype=pl.Int64))
    )  # fmt: skip


def banded_maps(
    cells: pl.DataFrame,
    axes: Mapping[str, tuple[str, str]],
    *,
    title: str,
    subtitle: str,
    bands: Sequence[float] = BANDS,
    rules: Sequence[float] = (),
) -> alt.ConcatChart | alt.LayerChart:
    """Draw square heat maps of integers by integers, up to two side by side, in bands of values.

    `cells` has the columns pane, x, y and value (null or NaN: hatched). `bands` are the lower
    bounds of all bands but the lowest, `rules` values of x and y that are marked by lines.
    """
    if cells.is_empty():
        return nothing(f"{title}: nothing to draw.")
    labels = band_names(bands)
    strips, columns = band_strips(cells, bands, labels), min(2, len(axes))
    undefined = [UNDEFINED] if (strips["band"] == UNDEFINED).any() else []
    data = Datasets()
    panes = [
        banded_map(
            data,
            strips.filter(pane=pane),
            titles,
            [*labels, *undefined],
            [*SHADES, "white"],
            rules,
            columns,
        )
        for pane, titles in axes.items()
    ]
    return arrange(panes, columns, data, title=title, subtitle=subtitle)


def band_names(bands: Sequence[float]) -> list[str]:
    """Return names of the bands between the bounds, from the lowest."""
    low, high = f"below {bands[0]:g}", f"{bands[-1]:g} or more"
    labels = [low, *(f"{a:g} to {b:g}" for a, b in pairwise(bands)), high]
    return [name.replace("-", "\u2212") for name in labels]


def band_strips(cells: pl.DataFrame, bands: Sequence[float], names: Sequence[str]) -> pl.DataFrame:
    """Merge neighbouring cells of a row in one band into strips: a tenth of the marks."""
    value = pl.col("value").cast(pl.Float64).fill_nan(None)
    # 12 digits: a correlation of 0.9 may be 0.8999999999999999
    index = pl.sum_horizontal(
        [(value.round(12) >= bound).cast(pl.Int32) for bound in bands], ignore_nulls=False
    )
    band = index.replace_strict(dict(enumerate(names)), default=UNDEFINED, return_dtype=pl.String)
    place = ["pane", "y"]
    return (
        cells.with_columns(band=band)
        .sort("pane", "y", "x")
        .with_columns(
            strip=pl.struct("band", pl.col("x") - pl.int_range(pl.len())).rle_id().over(place)
        )
        .group_by(*place, "strip", maintain_order=True)
        .agg(pl.col("band").first(), start=pl.col("x").first() - 0.5, stop=pl.col("x").last() + 0.5)
        # The next strip and the next row cover the overlap; without it the seams would shine.
        .with_columns(
            low=pl.col("y") - 0.5,
            top=pl.col("y") + 0.5,
            high=pl.col("y") + 1.0,
            end=pl.col("stop") + 0.1,
        )
    )


def banded_map(
    data: Datasets,
    strips: pl.DataFrame,
    titles: tuple[str, str],
    names: Sequence[str],
    shades: Sequence[str],
    rules: Sequence[float] = (),
    columns: int = 2,
) -> alt.LayerChart:
    """Draw one square heat map from the result of `band_strips`, a pane for `arrange`."""
    import altair as alt

    x, y = (
        _axis(title, max(strips[name].to_list()), **more)
        for title, name, more in zip(titles, ("stop", "top"), ({}, axis_room(ROOM)), strict=True)
    )
    colours = alt.Scale(domain=names, range=shades[: len(names)])
    key = legend(names, symbolType="square", symbolStrokeColor=MUTED, symbolStrokeWidth=0.5)
    base = data.chart(strips.drop("pane", "strip"))
    cells = base.mark_rect(aria=False, clip=True).encode(
        alt.X("start:Q", **x),
        alt.X2("end:Q"),
        alt.Y("low:Q", **y),
        alt.Y2("high:Q"),
        alt.Color("band:N", scale=colours, legend=key),
    )
    hatch = (
        base.transform_filter(f"datum.band === '{UNDEFINED}'")
        .mark_rule(color=MUTED, strokeWidth=0.6, clip=True, aria=False)
        .encode(alt.X("start:Q", **x), alt.X2("stop:Q"), alt.Y("y:Q", **y))
    )
    layers: list[Any] = [cells, hatch]
    end = min(max(strips[name].to_list()) for name in ("stop", "top"))
    if inside := [float(rule) for rule in rules if rule < end]:
        marks = alt.Chart(pl.DataFrame({"at": inside}))
        # a white casing separates the lines from dark cells
        casing = marks.mark_rule(color="white", strokeWidth=2, clip=True, aria=False)
        dashes = marks.mark_rule(color=INK, strokeDash=[4, 2], clip=True, aria=False)
        for lines in (casing, dashes):
            layers += [lines.encode(alt.X("at:Q", **x)), lines.encode(alt.Y("at:Q", **y))]
    chart: Any = alt.layer(*layers)
    chart.width = chart.height = pane_width(columns, ROOM + TITLE)
    if columns > 1:
        chart.title = heading("", [], ROOM + TITLE)  # for the letter of the pane
    return chart


def _axis(title: str, end: float, **more: Any) -> dict[str, Any]:
    import altair as alt

    most = int(end)
    step = next(d * 10**n for n in range(1, 10) for d in (1, 2, 5) if d * 10**n * 15 >= most)
    ticks = [1, *range(step, most + 1, step)] if most > 10 else [*range(1, most + 1)]
    axis = alt.Axis(format="d", grid=False, values=ticks, labelOverlap=False, labelFlush=8, **more)
    scale = alt.Scale(domain=[0.5, end], nice=False, zero=False)
    return {"title": title, "scale": scale, "axis": axis}


LEVELS = (-0.3, -0.1, -0.02, 0.02, 0.1, 0.3)
"""Lower bounds of the bands above the lowest; no difference of powers of 1/2 is equal to one."""
COLOURS = (VERMILLION, PALE_RED, "#fbe3d4", "#f7f7f7", "#d8e9f4", PALE_BLUE, BLUE)
DASHES: tuple[list[float], ...] = ([1, 0], [6, 3], [1.5, 2])


def surfaces(
    cells: pl.DataFrame,
    shares: pl.DataFrame,
    headings: Mapping[str, str],
    *,
    title: str,
    subtitle: str,
    axes: tuple[str, str],
    share_heading: str,
    x_title: str,
) -> alt.ConcatChart | alt.LayerChart:
    """Draw up to three antisymmetric surfaces, and a distribution function of each in one pane.

    `cells` has the columns pane, x, y (int) and value (-1 to 1); `shares` pane, x (-1 to 1) and y
    (share of values up to x), by pane and x: without rows there is no such pane.
    """
    if cells.is_empty():
        return nothing(f"{title}: nothing to draw.")
    labels = band_names(LEVELS)
    strips = band_strips(cells, LEVELS, labels)
    data, panes = Datasets(), []
    for pane, text in headings.items():
        rows = strips.filter(pane=pane)
        chart = banded_map(data, rows, axes, labels, COLOURS)
        chart.layer += _signs(rows)
        chart.title = heading(text, [], ROOM + TITLE)
        panes.append(chart)
    if not shares.is_empty():
        panes.append(_distribution(data, shares, headings, share_heading, x_title))
    return arrange(panes, 2, data, title=title, subtitle=subtitle)


def _signs(strips: pl.DataFrame) -> list[Any]:
    """Return a sign on each side of the diagonal: the colours have equal lightness in grey."""
    import altair as alt

    far = strips["stop"].max()
    assert isinstance(far, float)
    frame = pl.DataFrame({"x": [0.4 * far, 0.85 * far], "y": [0.85 * far, 0.4 * far],
                          "sign": ["+", "\u2212"]})  # fmt: skip
    text = alt.Chart(frame).mark_text(fontSize=18, color=INK, aria=False)
    return [text.encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Text("sign:N"))]


def _distribution(
    data: Datasets,
    shares: pl.DataFrame,
    headings: Mapping[str, str],
    share_heading: str,
    x_title: str,
) -> alt.LayerChart:
    import altair as alt

    words = list(headings.values())
    named = shares.with_columns(name=pl.col("pane").replace(dict(headings)))
    scale = alt.Scale(domain=[-1.05, 1.05], nice=False)
    x = alt.X("x:Q", title=x_title, scale=scale, axis=alt.Axis(tickCount=5, labelFlush=8))
    axis = alt.Axis(format="%", tickCount=5, labelFlush=True, **axis_room(ROOM + TITLE))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
    key = legend(words, orient="bottom", symbolType="stroke", symbolStrokeColor=INK)
    dash = alt.StrokeDash(
        "name:N", sort=words, scale=alt.Scale(domain=words, range=DASHES[: len(words)]), legend=key
    )
    line = data.chart(named).mark_line(
        interpolate="step-after", color=INK, strokeWidth=1.5, aria=False
    )
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=MUTED, strokeWidth=0.5, aria=False)
    chart: Any = alt.layer(zero.encode(x), line.encode(x, y, dash))
    chart.width = chart.height = pane_width(2, ROOM + TITLE)
    chart.title = heading(share_heading, [], ROOM + TITLE)
    return chart


GRADED_FONTS = (11, 10.5, 10, 9)
LABEL_LIMIT = 190
ABOVE = 34  # pixels of labels and of names of groups above them
SLANTED = -40  # degrees, of labels above narrow columns
GRADED_SHADES = ("#d6ebf7", "#e9a35c", "#8a2f00", "#ffffff")
"""From light to dark, so that grades differ in grey too; the last is of cells without a grade."""


def graded_table(
    cells: pl.DataFrame, grades: Sequence[str], *, title: str, subtitle: str, is_wide: bool = False
) -> alt.LayerChart:
    """Draw a table whose cells are coloured by three grades, the best first, or by none.

    `cells` has the columns column, row (in the order in which they first appear), grade, text, name
    (under the pointer) and group (of neighbouring columns, named above a wide table). In a narrow
    table, which is one column of print, numbers are short: .504 and 35%.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: nothing to grade.")
    across, down = (cells[c].unique(maintain_order=True).to_list() for c in ("column", "row"))
    label_room = min(max(text_width(name, 11) for name in down), LABEL_LIMIT) + 16
    room = ((TEXT_WIDTH if is_wide else PRINT_WIDTH) - label_room) / len(across) - 4
    texts, font = _fitting(cells["text"].to_list(), room)
    is_slanted = max(text_width(name, 11) for name in across) > room
    labels = alt.Axis(
        labelAngle=SLANTED if is_slanted else 0,
        ticks=False,
        domain=False,
        orient="top",
        labelLimit=120,
    )
    tight = alt.Scale(padding=0)
    base = alt.Chart(cells.with_columns(text=pl.Series(texts))).encode(
        alt.X("column:N", sort=across, title=None, axis=labels, scale=tight),
        alt.Y("row:N", sort=down, title=None, scale=tight),
    )
    present = [grade for grade in grades if (cells["grade"] == grade).any()]
    shades = [GRADED_SHADES[grades.index(grade)] for grade in present]
    colours = alt.Scale(domain=present, range=shades)
    has_names = not is_slanted and cells["group"].n_unique() > 1
    key = legend(present, symbolStrokeColor=INK, offset=ABOVE + 6 if has_names else 4)
    rects = base.mark_rect(stroke=RULE, strokeWidth=1.5).encode(
        alt.Color("grade:N", scale=colours, legend=key),
        tooltip=alt.Tooltip("name:N", title=" "),
        description=alt.Description("name:N"),
    )
    ink = alt.condition(f"datum.grade === '{grades[2]}'", alt.value("white"), alt.value(INK))
    numbers = base.mark_text(fontSize=font).encode(alt.Text("text:N"), color=ink)
    height = max(18, min(30, (340 if is_wide else 420) // (len(down) + 1))) * len(down)
    layers = [rects, numbers, *_groups(cells, across, height, has_names=has_names)]
    width = TEXT_WIDTH if is_wide else WIDTH
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle, width=width)


def _groups(
    cells: pl.DataFrame, across: Sequence[str], height: int, *, has_names: bool
) -> list[Any]:
    """Return lines between groups of columns, and above the labels the names of the groups."""
    import altair as alt

    firsts = cells.unique("group", keep="first", maintain_order=True).select("column", "group")
    if firsts.height < 2:
        return []
    x = alt.X("column:N", sort=across, bandPosition=0)
    lines = alt.Chart(firsts[1:]).mark_rule(color=INK, strokeWidth=2, aria=False)
    top = -ABOVE if has_names else 0
    layers = [lines.encode(x, y=alt.value(top), y2=alt.value(height))]
    if has_names:
        text = alt.Chart(firsts).mark_text(
            align="left", baseline="bottom", dx=6, fontSize=11, color=MUTED, aria=False
        )
        layers.append(text.encode(x, alt.Text("group:N"), y=alt.value(-20)))
    return layers


def _fitting(texts: Sequence[str], room: float) -> tuple[list[str], float]:
    """Return the texts, and the largest font in which they fit; short ones if none does."""
    short = [_short(text) for text in texts]
    for shown in (list(texts), short):
        for font in GRADED_FONTS[: -1 if shown is not short else None]:
            if max(text_width(text, font) for text in shown) <= room:
                return shown, font
    return short, GRADED_FONTS[-1]


def _short(text: str) -> str:
    """Return a share without decimals from 10 % on, another number without its leading zero."""
    if text.endswith("%"):
        share = float(text[:-1])
        return text if 0 < share < 9.95 else f"{share:.0f}%"
    short = re.sub(r"^(-?)1\.0+$", r"\g<1>1", re.sub(r"^(-?)0\.", r"\1.", text))
    return short.replace("-", MINUS)
