"""One look for all figures, and their SVG, PNG and PDF."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.vega import vega_print, vega_svg

if TYPE_CHECKING:
    import altair as alt

WIDTH = 520
PRINT_WIDTH = 420  # in a column of 240 points, 11 pixels are 6.3 points
NARROW = 360  # what a plot has at least for its bars, when it is printed

# Okabe and Ito's blue and vermillion: apart for every common form of colour vision, and apart as
# greys in print
BLUE, VERMILLION = "#0072B2", "#D55E00"
INK, MUTED, RULE = "#222222", "#5f6368", "#e4e6e8"

# vl-convert carries Liberation Sans inside it, so text measures the same, and the SVG has the same
# bytes, on a machine without fonts; Arial and Helvetica share its widths
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

_NOT_XML = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
    r"|\\u(?:000[0-8bcef]|001[0-9a-f]|fff[ef])"
)

CONFIG: Mapping[str, Any] = {
    "font": FONT,
    "background": "white",
    "padding": {"left": 0, "right": 4, "top": 4, "bottom": 4},
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "labelFontSize": 11,
        "labelLimit": 190,
        "titleColor": MUTED,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": RULE,
        "domainColor": "#9aa0a6",
        "tickColor": "#9aa0a6",
    },
    "axisY": {"domain": False, "ticks": False, "labelPadding": 9},
    "axisX": {"grid": False, "tickSize": 4, "labelFlush": False},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "offset": 14,
        "limit": WIDTH - 4,  # a longer one would take the room of the figure itself
        "fontSize": 14,
        "fontWeight": "bold",
        "color": INK,
        "subtitleColor": MUTED,
        "subtitleFontSize": 11.5,
        "subtitlePadding": 5,
    },
    "bar": {"color": BLUE},
    "text": {"color": INK, "fontSize": 10.5},
    "scale": {"bandPaddingInner": 0.14, "bandPaddingOuter": 0.08},
}


def nothing(message: str) -> alt.LayerChart:
    """A figure that says why there is none, so that one odd track does not stop a whole report."""
    import altair as alt

    text = alt.Chart(pl.DataFrame({"message": [message]})).mark_text(fontSize=12, color=MUTED)
    return finish(alt.layer(text.encode(text="message:N")), height=60, title="", subtitle=message)


def described(marks: alt.Chart, name: str, value: str, digits: str) -> alt.Chart:
    """A name and a number under the pointer, in a notebook and in the SVG."""
    import altair as alt

    said = f"replace(datum.{name}, '|', ' ') + ': ' + format(datum.{value}, '{digits}')"
    return marks.transform_calculate(said=said).encode(
        tooltip=alt.Tooltip("said:N", title=" "), description=alt.Description("said:N")
    )


def either(test: str, yes: str, no: str) -> alt.ColorValue:
    """One of two colours; `alt.condition` is slow, being looked at against the whole schema."""
    import altair as alt

    return alt.ColorValue(no, condition={"test": test, "value": yes})


def finish(chart: Any, height: int, title: str, subtitle: str) -> alt.LayerChart:
    """The size, the look and the words of every figure."""
    import altair as alt

    chart.width, chart.height = WIDTH, height
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart.title = alt.TitleParams(title, subtitle=subtitle)
    chart.description = ". ".join(part for part in (title, subtitle) if part) + "."
    chart.config = _config()
    return chart


@cache
def _config() -> alt.Config:
    """`CONFIG`, looked at against the schema but once."""
    import altair as alt

    return alt.Config.from_dict(dict(CONFIG))


def to_svg(chart: Any, draw: Callable[[dict[str, Any]], str] = vega_svg) -> str:
    """A chart as an SVG element to stand inside a page: the same chart gives the same bytes.

    It is made offline. What a mark would say to a screen reader becomes its ``<title>``, which
    browsers show under the pointer.

    Parameters
    ----------
    chart
        Any Altair chart; its description is what the whole image says to a screen reader.
    draw
        What turns a Vega-Lite spec into SVG.
    """
    spec = _drawable(chart.to_dict(validate=False))  # slow, and the tests look at every chart
    svg = draw(spec)
    svg = re.sub(r"<[^>]+>", lambda tag: _lean(tag[0]), svg)
    said = html.escape(str(spec.get("description", "Figure")))
    return _own_ids(svg.replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1))


def to_print(
    chart: Any,
    ppi: int = 300,
    draw: Callable[[dict[str, Any], int], tuple[bytes, bytes]] = vega_print,
) -> tuple[bytes, bytes]:
    """A chart for paper, narrower, so that its text can be read in a column: PDF and PNG.

    They are made offline. The same chart gives the same PNG; a PDF has the time in it.

    Parameters
    ----------
    chart
        Any Altair chart.
    ppi
        Pixels for each 72 of the chart's own.
    draw
        What turns a Vega-Lite spec and `ppi` into PDF and PNG.
    """
    spec = _drawable(chart.to_dict(validate=False))
    spec["width"] = PRINT_WIDTH
    spec["config"]["title"] = spec["config"]["title"] | {"limit": PRINT_WIDTH - 4}
    return draw(spec, ppi)


def _drawable(spec: Any) -> Any:
    """With a mark in the place of each character that XML lacks: vl-convert would end the process.

    In expressions they stand as escapes.
    """
    if isinstance(spec, str):
        return _NOT_XML.sub("\ufffd", spec)
    if isinstance(spec, dict):
        return {_drawable(name): _drawable(value) for name, value in spec.items()}
    return [_drawable(value) for value in spec] if isinstance(spec, list) else spec


def _lean(tag: str) -> str:
    """A tag without what serves only Vega's own pages; a mark's description as its title."""
    if re.match(r'<path class="(?:back|fore)ground".* d="(?:M0,0h0v0h0Z)?"', tag):
        return ""
    said = re.search(r' aria-label="([^"]*)"', tag)
    tag = re.sub(r' (?:role|aria-[a-z]+|pointer-events|xmlns:xlink)="[^"]*"', "", tag)
    # the last digits of a coordinate are the platform's, and nobody sees them
    tag = re.sub(
        r' (?:d|transform|x|y|[xy][12]|offset)="[^"]*"',
        lambda found: re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", found[0]),
        tag,
    )
    if said and tag.endswith("/>"):
        return f"{tag[:-2]}><title>{said[1]}</title></{tag[1 : tag.index(' ')]}>"
    return tag


def _own_ids(svg: str) -> str:
    """Ids that neither count the charts of this process nor meet another figure's in one page."""
    uses = re.compile(r'(?<= id="|url\(#)(?:clip|gradient_)\d+')
    order = {old: f"{n}" for n, old in enumerate(dict.fromkeys(uses.findall(svg)))}
    plain = uses.sub(lambda use: order[use[0]], svg)
    stem = hashlib.sha256(plain.encode()).hexdigest()[:10]
    return uses.sub(lambda use: f"f{stem}-{order[use[0]]}", svg)


def right_words(rows: pl.DataFrame, name: str, title: str, font: int) -> alt.Axis:
    """An axis at the right that says the column ``aside`` of each line, under `title`."""
    import altair as alt

    words = json.dumps(dict(rows.select(name, "aside").unique().sort(name).iter_rows()))
    return alt.Axis(
        orient="right",
        title=title,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleBaseline="bottom",
        titleX=9,
        titleY=-4,
        grid=False,
        labelExpr=f"split({words}[datum.label], '|')",
        labelColor=MUTED,
        labelFontSize=font,
        labelOverlap=False,
    )


def whole_ticks(top: int) -> list[int]:
    """0 and a few round whole numbers up to `top`."""
    step = next(d * 10**p for p in range(10) for d in (1, 2, 5) if d * 10**p * 6 >= top)
    return list(range(0, top + 1, step))
