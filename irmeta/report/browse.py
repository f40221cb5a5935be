"""An interactive chart: choose a system and a bar to see the docs behind the bar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from irmeta.report.theme import BLUE, CONFIG, VERMILLION, WIDTH

if TYPE_CHECKING:
    import altair as alt

COLUMNS = ("query", "grade", "rank", "doc")
BYTES = 1_500_000  # of the docs that the chart carries
DOCS = (20, 10, 5, 2, 1)  # of a bar, as many of these as the bytes allow
MOST_DOCS = DOCS[0]


def browser(bars: list[dict[str, Any]], buckets: Sequence[str]) -> alt.VConcatChart:
    """Draw bars above a table; the caller adds the parameter `system`, which both read.

    Parameters
    ----------
    bars
        A row for each filled bar: system, bucket, docs, and shown, a list of rows of four cells,
        the first row the heads.
    buckets
        The names of all buckets in order; the last holds the docs not retrieved.
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
    for most in DOCS:
        fitting = [bar | {"shown": [COLUMNS, *bar["shown"][:most]]} for bar in bars]
        if len(json.dumps(fitting)) <= BYTES:
            break
    return fitting, most
