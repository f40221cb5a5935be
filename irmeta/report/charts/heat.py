"""Heat map: one cell per pair of names, coloured by its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.look import INK, RULE, described, either, finish, nothing

if TYPE_CHECKING:
    import altair as alt


def heat_map(
    cells: pl.DataFrame, *, title: str, subtitle: str, digits: str = ".2f"
) -> alt.LayerChart:
    """Draw values between -1 and 1, with their numbers in the cells.

    Parameters
    ----------
    cells
        Columns across, down (names, in the order in which they first appear), value (null or NaN:
        undefined, drawn as a dash) and name (under the pointer).
    digits
        Format of the numbers.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: nothing to compare.")
    cells = cells.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None))
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
    numbers = base.mark_text(fontSize=12 if len(across) < 9 else 10 if len(across) < 14 else 8)
    defined = {
        "test": "isValid(datum.value)",
        "field": "value",
        "type": "quantitative",
        "format": digits,
    }
    numbers = numbers.encode(
        text=alt.TextValue("\u2014", condition=defined),
        color=either("abs(datum.value) > 0.65", "white", INK),
    )
    return finish(
        alt.layer(blank, heat, numbers),
        height=max(18, min(38, 420 // (len(across) + 1))) * len(down),
        title=title,
        subtitle=subtitle,
    )


def lower_triangle(pairs: pl.DataFrame, a: str, b: str, value: str) -> pl.DataFrame:
    """Return each unordered pair once as cells of `heat_map`; the later name is the row.

    Parameters
    ----------
    pairs
        Pairs in one or both orders, with or without pairs of equal names.
    a, b, value
        Names of the columns.
    """
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
