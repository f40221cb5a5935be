"""Heat maps: one cell per pair of names, coloured by its value; or pairs of integers, in bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import Datasets, arrange, axis_room, heading, legend, pane_width
from irmeta.report.figure_texts import text_width
from irmeta.report.theme import INK, MUTED, PRINT_WIDTH, RULE, described, either, finish, nothing

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
    names = pl.concat([pairs[a], pairs[b]]).unique(maintain_order=True)
    index = {name: n for n, name in enumerate(names)}
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
    names = band_names(bands)
    strips, columns = band_strips(cells, bands, names), min(2, len(axes))
    undefined = [UNDEFINED] if (strips["band"] == UNDEFINED).any() else []
    data = Datasets()
    panes = [
        banded_map(
            data,
            strips.filter(pane=pane),
            titles,
            [*names, *undefined],
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
    names = [low, *(f"{a:g} to {b:g}" for a, b in pairwise(bands)), high]
    return [name.replace("-", "\u2212") for name in names]


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
