"""Style of all figures, the layout of their texts, and their output as SVG, PNG and PDF."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.escapes import UNSAFE
from irmeta.report.vega import vega_print, vega_svg

if TYPE_CHECKING:
    import altair as alt


_PER_MILLE = {
    "'": 191, "ijl\u2018\u2019": 222, "|": 260, " !,./:;I[\\]ft": 278, "()-`r{}": 333, '"': 355,
    "*": 389,
    "^": 469, "Jcksvxyz": 500, "+<=>~\u2212": 584, "FTZ": 611, "&ABEKPSVXY": 667, "CDHNRUw": 722,
    "GOQ": 778, "Mm": 833, "%": 889, "W": 944, "\u2014": 1000, "@": 1015,
}  # fmt: skip
_WIDTHS = {letter: width for letters, width in _PER_MILLE.items() for letter in letters}
_USUAL, _BOLD = 556, 1.08  # digits, most letters, the en dash; bold texts are wider


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text in pixels, bold texts about."""
    width = sum(_WIDTHS.get(letter, _USUAL) for letter in text) / 1000
    return width * size * (_BOLD if bold else 1.0)


def wrapped(text: str, size: float, room: float, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `room` pixels, between words or within a longer word."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines += _pieces(word, size, room, bold)
    return lines


def _pieces(word: str, size: float, room: float, bold: bool) -> list[str]:
    """Break a word that is wider than a line, such as the name of a system."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and text_width(pieces[-1] + letter, size, bold) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces


Spec = dict[str, Any]
ROOM = 0.95  # of the width; other fonts, and browsers that round the widths of letters, need more


def subtitle_of(spec: Mapping[str, Any]) -> str:
    """Return the subtitle of a figure from its spec, as one line."""
    title = spec.get("title", {})
    return _one_line(title.get("subtitle", ""))


def without_titles(spec: Spec) -> Spec:
    """Return a spec without title and subtitle, which a caption replaces.

    The headings of panes remain, and a screen reader still reads the titles.
    """
    return {name: value for name, value in spec.items() if name != "title"}


def wrap_titles(spec: Spec, width: int) -> Spec:
    """Return a spec whose titles, and headings of panes, are broken where the width needs it."""
    style = spec.get("config", {}).get("title", {})
    title = spec.get("title")
    if isinstance(title, dict) and {"fontSize", "subtitleFontSize"} <= style.keys():
        sizes = {"text": style["fontSize"], "subtitle": style["subtitleFontSize"]}
        broken = {
            name: _in_lines(title[name], size, ROOM * width, bold=name == "text")
            for name, size in sizes.items()
            if name in title
        }
        spec = spec | {"title": title | broken}
    if "concat" in spec:
        panes = [_with_wrapped_heading(pane) for pane in spec["concat"]]
        return spec | {
            "concat": [_with_wrapped_axes(pane, pane["width"], pane["height"]) for pane in panes]
        }
    room = AXIS_SHARE * width
    height = spec.get("height")
    return _with_wrapped_axes(spec, room, height) if isinstance(height, int | float) else spec


def _with_wrapped_axes(spec: Spec, width: float, height: float) -> Spec:
    """Break titles of axes, which would make a figure wider, and so cut its title and subtitle."""
    if "layer" in spec:
        layers = [_with_wrapped_axes(layer, width, height) for layer in spec["layer"]]
        return spec | {"layer": layers}
    channels = dict(spec.get("encoding", {}))
    for name, room in (("x", width), ("y", max(height, 150))):
        channel = channels.get(name, {})
        if channel.get("title"):
            lines = _in_lines(channel["title"], AXIS_FONT, room, bold=False)
            channels[name] = channel | {"title": lines}
    return spec | {"encoding": channels} if channels else spec


def _with_wrapped_heading(pane: Spec) -> Spec:
    title = pane.get("title")
    if not isinstance(title, dict) or not {"text", "fontSize", "dx"} <= title.keys():
        return pane
    room = pane["width"] - title["dx"]  # a heading starts to the left of its pane
    text = _in_lines(title["text"], title["fontSize"], room, bold=True)
    return pane | {"title": title | {"text": text}}


def _in_lines(text: str | list[str], size: float, room: float, *, bold: bool) -> str | list[str]:
    lines = wrapped(_one_line(text), size, room, bold)
    return lines if len(lines) > 1 else lines[0]


def _one_line(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


WIDTH = 520
AXIS_FONT, AXIS_SHARE = 11, 0.78  # of the title of an axis, and of the width that an x axis has
PRINT_WIDTH = 420  # in a column of 240 points, 11 pixels are 6.3 points
TEXT_WIDTH = 861  # the same for two columns with 12 points between them
PPI = 300
NARROW = 360  # least width for the bars of a printed plot

# Okabe and Ito's blue and vermillion differ for all common forms of colour vision, and in grey.
# Orange is for docs that are not retrieved, for signs that differ, and for the second of two sides
# where that is better: for nothing else.
BLUE, VERMILLION = "#0072B2", "#D55E00"
INK, MUTED, RULE = "#222222", "#5f6368", "#e4e6e8"
# In grey, blue, pale red, pale blue and pale grey are ever lighter.
PALE_BLUE, PALE_RED, GREY, PALE_GREY = "#9fcde8", "#e9955c", "#a9aeb4", "#d9dcdf"
LINES = (
    *(BLUE, INK, "#009E73", "#CC79A7", "#8a6d00", "#56B4E9", "#7f7f7f", "#882255"),
    *("#7fb800", "#332288", "#783018", "#7a5cff", "#00b8a9"),
)
"""Colours of lines of equal importance."""
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [1, 3], [10, 3], [4, 2, 1, 2, 1, 2])
"""Dashes of such lines, which also differ in black and white."""

# vl-convert includes Liberation Sans, so text widths and SVG bytes do not depend on the machine's
# fonts; Arial, Arimo, Helvetica and Nimbus Sans have the same widths, and DejaVu Sans Condensed is
# 3% wider. Where none of them is installed, texts of DejaVu Sans would be 15% wider.
FONT = "Liberation Sans, Arial, Arimo, Helvetica, Nimbus Sans, DejaVu Sans Condensed, sans-serif"

# Characters that XML forbids or discourages; expressions contain their escapes.
_UNDRAWABLE = re.compile(
    f"(?![\t\n\r])[{UNSAFE}\ufffe\uffff]"
    r"|\\u(?:000[0-8bcef]|001[0-9a-f]|007f|00[89][0-9a-f]"
    r"|061c|200[ef]|202[89a-e]|206[6-9]|fff[ef])"
)

CONFIG: Mapping[str, Any] = {
    "font": FONT,
    "background": "white",
    "padding": {"left": 4, "right": 4, "top": 4, "bottom": 4},  # for fonts wider than measured
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
    "axisX": {"grid": False, "tickSize": 4, "labelFlush": False, "labelSeparation": 5},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "offset": 14,
        "limit": WIDTH - 4,  # a longer word would shrink the figure
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
    """Return a figure with only a message, so that an unusual track does not stop a report."""
    import altair as alt

    lines = wrapped(message, 12, PRINT_WIDTH - 20)
    text = alt.Chart(pl.DataFrame({"message": ["\n".join(lines)]}))
    text = text.mark_text(fontSize=12, color=MUTED, lineBreak="\n", baseline="middle")
    chart = alt.layer(text.encode(alt.Text("message:N")))
    return finish(chart, height=44 + 15 * len(lines), title="", subtitle=message)


def described(marks: alt.Chart, name: str, value: str, digits: str) -> alt.Chart:
    """Add a tooltip with a name and a number, in a notebook and in the SVG."""
    import altair as alt

    text = f"replace(datum.{name}, '|', ' ') + ': ' + format(datum.{value}, '{digits}')"
    return marks.transform_calculate(said=text).encode(
        tooltip=alt.Tooltip("said:N", title=" "), description=alt.Description("said:N")
    )


def axis_title(*parts: str) -> str:
    """Return a title such as "ASL, docs, log scale" from its parts; empty parts are left out."""
    return ", ".join(part for part in parts if part)


def either(test: str, yes: str, no: str) -> alt.ColorValue:
    """Choose one of two colours; `alt.condition` is slow, because it validates the schema."""
    import altair as alt

    return alt.ColorValue(no, condition={"test": test, "value": yes})


def finish(
    chart: Any, height: int, title: str, subtitle: str, width: int = WIDTH
) -> alt.LayerChart:
    """Set the size, the theme and the texts of a figure.

    A figure of `TEXT_WIDTH` keeps its width in print, over both columns of a paper.
    """
    import altair as alt

    chart.width, chart.height = width, height
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    return finish_text(chart, title, subtitle)


def finish_text(chart: Any, title: str, subtitle: str) -> Any:
    """Set the theme and the texts of a figure whose size is set, or is that of its panes."""
    import altair as alt

    chart.title = alt.TitleParams(title, subtitle=subtitle)
    chart.description = ". ".join(part for part in (title, subtitle) if part) + "."
    chart.config = _config()
    return chart


@cache
def _config() -> alt.Config:
    """Return `CONFIG`, validated against the schema only once."""
    import altair as alt

    return alt.Config.from_dict(dict(CONFIG))


def to_spec(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite spec of an Altair chart, without characters that XML lacks."""
    import altair as alt

    # Altair would copy each row several times.
    rows, chart.datasets = chart.datasets, alt.Undefined
    spec = chart.to_dict(validate=False)  # validation is slow; tests validate charts
    if rows is not alt.Undefined:
        chart.datasets = rows
        spec["datasets"] = spec.get("datasets", {}) | rows
    drawable = _drawable(spec)
    return fit_width(drawable, TEXT_WIDTH) if _is_wide(spec) else wrap_titles(drawable, WIDTH)


def _is_wide(spec: Mapping[str, Any]) -> bool:
    """Check whether a figure is as wide as two columns of print."""
    return spec.get("width") == TEXT_WIDTH


def to_svg(chart: Any, draw: Callable[[dict[str, Any]], str] = vega_svg) -> str:
    """Draw a chart as an SVG element for a page: see `svg_of`."""
    return svg_of(to_spec(chart), draw)


def svg_of(spec: dict[str, Any], draw: Callable[[dict[str, Any]], str] = vega_svg) -> str:
    """Draw a spec of `to_spec` as an SVG element; the same spec gives the same bytes, offline.

    What a mark says to a screen reader becomes its ``<title>``, which browsers show as a tooltip.
    """
    svg = draw(spec)
    svg = re.sub(r"<[^>]+>", lambda tag: _lean(tag[0]), svg)
    label = html.escape(str(spec.get("description", "Figure")))
    return _own_ids(svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))


def print_of(
    spec: dict[str, Any],
    formats: Collection[str],
    ppi: int = PPI,
    draw: Callable[[dict[str, Any], Collection[str], int], dict[str, bytes]] = vega_print,
) -> dict[str, bytes]:
    """Draw a spec of `to_spec` as pdf or png, narrower than on the page, to fit a column of print.

    A figure of `TEXT_WIDTH` fits two columns. The same spec gives the same PNG; a PDF has the time.
    """
    return draw(spec if _is_wide(spec) else fit_width(spec, PRINT_WIDTH), formats, ppi)


def fit_width(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """Return the spec of a chart with another width than `WIDTH`, in pixels."""
    title = spec["config"]["title"] | {"limit": width - 4}
    fitted = spec | {"config": spec["config"] | {"title": title}}
    if "concat" in spec:
        columns, less = spec["columns"], WIDTH - width
        by = [less // columns] * columns
        if columns > 2:
            by[-1] = less - sum(by[:-1])
        fitted["concat"] = [
            pane
            | {"width": pane["width"] - by[place % columns]}
            | ({"height": pane["height"] - by[0]} if pane["height"] == pane["width"] else {})
            for place, pane in enumerate(spec["concat"])
        ]
    else:
        fitted["width"] = width
    return wrap_titles(fitted, width)


def _drawable(spec: Any) -> Any:
    """Replace control and bidirectional characters.

    vl-convert would abort the process at a character that XML does not allow.
    """
    if isinstance(spec, str):
        return _drawable_text(spec)
    if isinstance(spec, dict):
        return {_drawable(name): _drawable(value) for name, value in spec.items()}
    return [_drawable(value) for value in spec] if isinstance(spec, list) else spec


@lru_cache(maxsize=4096)  # rows of data repeat their names
def _drawable_text(text: str) -> str:
    return _UNDRAWABLE.sub("\ufffd", text)


def _lean(tag: str) -> str:
    """Remove attributes of a tag that only Vega needs; convert a description to a title."""
    if re.match(r'<path class="(?:back|fore)ground".* d="(?:M0,0h0v0h0Z)?"', tag):
        return ""
    label = re.search(r' aria-label="([^"]*)"', tag)
    tag = re.sub(r' (?:role|aria-[a-z]+|pointer-events|xmlns:xlink)="[^"]*"', "", tag)
    # The last digits of a coordinate depend on the platform and are invisible.
    tag = re.sub(
        r' (?:d|transform|x|y|[xy][12]|offset)="[^"]*"',
        lambda match: re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", match[0]),
        tag,
    )
    if label and tag.endswith("/>"):
        return f"{tag[:-2]}><title>{label[1]}</title></{tag[1 : tag.index(' ')]}>"
    return tag


def _own_ids(svg: str) -> str:
    """Rename ids to be unique within a page, and independent of earlier charts of the process."""
    uses = re.compile(r'(?<= id="|url\(#)(?:clip|gradient_)\d+')
    order = {old: f"{n}" for n, old in enumerate(dict.fromkeys(uses.findall(svg)))}
    plain = uses.sub(lambda use: order[use[0]], svg)
    stem = hashlib.sha256(plain.encode()).hexdigest()[:10]
    return uses.sub(lambda use: f"f{stem}-{order[use[0]]}", svg)


def right_words(rows: pl.DataFrame, name: str, title: str, font: int) -> alt.Axis:
    """Build a right axis with the column ``aside`` of each line as labels, under `title`."""
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
    """Return 0 and a few round integers up to `top`."""
    step = next(d * 10**p for p in range(10) for d in (1, 2, 5) if d * 10**p * 6 >= top)
    return list(range(0, top + 1, step))
