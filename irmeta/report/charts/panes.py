"""Several panes in one figure, of equal size and with the width of other figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.theme import CONFIG, INK, MUTED, PRINT_WIDTH, WIDTH, finish_text, text_width

if TYPE_CHECKING:
    import altair as alt

Label = tuple[float, str]
"""A value on an axis, and its label."""

GAP = 14  # pixels between a pane and the axis of the next
STEPS = ((1,), (1, 2, 5), tuple(range(1, 10)))
"""Multiples of powers of ten that are ticks of a log axis."""
MOST_TICKS = 7
TICK_FONT, CLEAR = 11, 5  # pixels of labels of ticks, and between them
ABOVE = 7  # pixels that a label of a tick may rise above a pane


def pane_width(columns: int, room: int, total: int = WIDTH) -> int:
    """Return the width of each of some panes side by side, with `room` for each y axis."""
    padding = CONFIG["padding"]["left"] + CONFIG["padding"]["right"]
    return (total - padding - columns * room - (columns - 1) * GAP) // columns


class Datasets:
    """Rows of a figure, by generated names: Altair is slow with large data inside a chart."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[dict[str, Any]]] = {}

    def chart(self, rows: pl.DataFrame) -> alt.Chart:
        """Return a chart of the rows, which `arrange` adds to the figure."""
        import altair as alt

        name = f"rows{len(self.by_name)}"
        self.by_name[name] = rows.to_dicts()
        return alt.Chart(alt.NamedData(name))


def arrange(
    panes: Sequence[alt.LayerChart], columns: int, data: Datasets, *, title: str, subtitle: str
) -> alt.ConcatChart:
    """Arrange panes in rows, with common legends; headings of 2 to 26 begin with (a), (b), ...

    The panes need the width of `pane_width` and y axes of `axis_room`.
    """
    import altair as alt

    # As high as the label of a tick at the upper edge: otherwise the headings of panes with and
    # without such a label would be out of line.
    line = alt.Chart(alt.sequence(1)).mark_rule(opacity=0, aria=False)
    space_above = line.encode(alt.XValue(0), alt.YValue(-ABOVE), alt.Y2Value(0))
    letters = ascii_lowercase if 1 < len(panes) <= len(ascii_lowercase) else ""
    for letter, pane in zip_longest(letters[: len(panes)], panes):
        pane.layer = [*pane.layer, space_above]
        if letter and pane.title is not alt.Undefined:
            pane.title.text = f"({letter}) {pane.title.text}".strip()
    chart = alt.concat(*panes, columns=columns, spacing=GAP)
    shared = alt.ScaleResolveMap(color="shared", shape="shared", strokeDash="shared")
    chart.resolve = alt.Resolve(scale=shared)  # `resolve_scale` would copy the panes
    chart.datasets = data.by_name
    return finish_text(chart, title, subtitle)


def axis_room(room: int) -> dict[str, Any]:
    """Return properties of a y axis that takes `room` pixels, whatever its labels."""
    return {"minExtent": room, "maxExtent": room}


def heading(text: str, lines: Sequence[str], room: int) -> alt.TitleParams:
    """Return the heading of a pane, above its y axis, with lines below."""
    import altair as alt

    return alt.TitleParams(
        text,
        subtitle=list(lines) or alt.Undefined,
        frame="group",
        dx=-room,
        offset=4,
        fontSize=11.5,
        subtitleFontSize=10,
        subtitlePadding=3,
    )


def legend(labels: Sequence[str], **more: Any) -> alt.Legend:
    """Return a legend above all panes, in as many columns as fit a printed figure."""
    import altair as alt

    options: dict[str, Any] = {"orient": "top", **more}
    widest = max((text_width(label, 10) for label in labels), default=0) + 34
    return alt.Legend(
        title=None,
        direction="horizontal",
        columns=max(1, min(len(labels), int(PRINT_WIDTH / widest))),
        labelLimit=PRINT_WIDTH - 40,
        **options,
    )


def log_ticks(low: float, high: float, room: float = math.inf) -> list[int]:
    """Return up to 7 round numbers between two values of at least 1, or else the values.

    Their labels do not touch one another in `room` pixels from the lower to the higher value.
    """
    powers = [10**n for n in range(int(math.log10(high)) + 1)]
    sets = ([step * power for power in powers for step in steps] for steps in STEPS)
    inside = [[tick for tick in ticks if low <= tick <= high] for ticks in sets]
    pixels = room / math.log(high / low) if high > low else room
    fitting = [ticks for ticks in inside if len(ticks) <= MOST_TICKS and _are_apart(ticks, pixels)]
    ticks = max(fitting, key=len, default=[])
    return ticks if len(ticks) > 1 else sorted({round(low), round(high)})


def _are_apart(ticks: Sequence[int], pixels: float) -> bool:
    """Check whether labels do not touch, with `pixels` for a ratio of e."""
    widths = [text_width(f"{tick:,}", TICK_FONT) for tick in ticks]
    gaps = [pixels * math.log(b / a) for a, b in pairwise(ticks)]
    touching = (
        gap < (a + b) / 2 + CLEAR for gap, (a, b) in zip(gaps, pairwise(widths), strict=True)
    )
    return not any(touching)


def linear_ticks(low: float, high: float, whole: bool) -> list[float]:
    """Return up to 7 round numbers between two values, integers if `whole`; or the least value."""
    reach = high - low
    if reach <= 0:
        return [low]
    power = math.floor(math.log10(reach)) - 1
    steps = (digit * 10.0**exponent for exponent in (power, power + 1) for digit in (1, 2, 5))
    step = next(step for step in steps if reach / step <= MOST_TICKS - 1)
    step = max(step, 1.0) if whole else step
    # 12 digits: 3 x 0.1 is 0.30000000000000004, and 0.3 / 0.1 is less than 3
    first, last = math.ceil(round(low / step, 12)), math.floor(round(high / step, 12))
    return [round(number * step, 12) for number in range(first, last + 1)]


def apart(
    values: Sequence[float], gap: float, least: float = -math.inf, most: float = math.inf
) -> list[float]:
    """Place ascending values so that neighbours are at least `gap` apart, near their old places.

    Places lie from `least` to `most` as far as there is room; below `most` it may be lacking.
    """
    down = _ascending([-value for value in reversed(values)], gap)
    # the mean of two placements without overlaps, upwards and downwards, has none
    pairs = zip(_ascending(values, gap), reversed(down), strict=True)
    middle = [max((up - down) / 2, least) for up, down in pairs]
    # the greatest first, so that the last of them pushes the others
    fitted = _ascending([-min(value, most) for value in reversed(_ascending(middle, gap))], gap)
    return _ascending([max(-value, least) for value in reversed(fitted)], gap)


def _ascending(values: Sequence[float], gap: float) -> list[float]:
    """Increase ascending values so that each is at least `gap` above the one before."""
    placed: list[float] = []
    for value in values:
        placed.append(max(value, placed[-1] + gap) if placed else value)
    return placed


def rules_at(values: Sequence[float], axis: alt.X | alt.Y) -> list[Any]:
    """Return dashed lines at values of the field x or y of an axis."""
    import altair as alt

    if not values:
        return []
    name = "x" if isinstance(axis, alt.X) else "y"
    rules = alt.Chart(pl.DataFrame({name: [float(value) for value in values]}))
    return [rules.mark_rule(color=INK, strokeDash=[2, 2], clip=True, aria=False).encode(axis)]


def labels_above(
    labels: Sequence[Label], axis: alt.X, domain: Sequence[float], width: int, log: bool = True
) -> Any:
    """Return labels of values above a pane, leaving out those that would overlap others.

    `domain` and `width` are those of the axis, which is logarithmic or linear.
    """
    import altair as alt

    scaled = math.log if log else float
    low, high = map(scaled, domain)
    shown: list[Label] = []
    end = -math.inf
    for value, label in sorted(labels):
        place = width * (scaled(value) - low) / (high - low)
        half = text_width(label, 10) / 2 + CLEAR / 2
        if place - half >= end:
            shown.append((value, label))
            end = place + half
    frame = pl.DataFrame(shown, schema={"x": pl.Float64, "label": pl.String}, orient="row")
    text = alt.Chart(frame).encode(axis, alt.Text("label:N"), alt.YValue(-3))
    return text.mark_text(baseline="bottom", fontSize=10, color=MUTED, aria=False)
