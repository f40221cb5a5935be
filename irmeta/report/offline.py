"""Charts that notebooks show without a network, and that save files in the style of a paper."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from irmeta.errors import check_choice
from irmeta.report.figure_file import ENDINGS, write_figure
from irmeta.report.theme import PRINT_WIDTH, TEXT_WIDTH, fit_width, svg_of, to_spec

if TYPE_CHECKING:
    import altair as alt

Chart = TypeVar("Chart")
Width = Literal["column", "text"]
WIDTHS: dict[str, int] = {"column": PRINT_WIDTH, "text": TEXT_WIDTH}
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><script>{script}</script></head>
<body><div id="chart"></div><script>vegaEmbed("#chart", {spec});</script></body></html>"""


class OfflineChart:
    """Mixin for Altair charts: see `offline`."""

    def save(self, fp: Any, *arguments: Any, titles: bool = True, **options: Any) -> None:
        """Write the chart to a file.

        Parameters
        ----------
        fp : str, Path or file
            Files that end in .svg, .pdf or .png are written as irmeta draws its figures; an
            existing file is replaced. Other files are written by Altair.
        titles : bool, default True
            Whether a file that irmeta draws has title and subtitle, which a caption may replace.
        *arguments, **options
            Arguments of `altair.Chart.save`, which then writes the file.
        """
        is_ours = isinstance(fp, str | Path) and Path(fp).suffix in ENDINGS
        if is_ours and not (arguments or options):
            write_figure(self, Path(fp), force=True, fit=False, titles=titles)
        else:
            cast("Any", super()).save(fp, *arguments, **options)

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        import altair as alt

        if alt.renderers.active != "default":  # the user chose how charts are shown
            return cast("Any", super())._repr_mimebundle_(*args, **kwargs)
        return mime_bundle(to_spec(self))


def offline(chart: Chart) -> Chart:
    """Return an Altair chart that a notebook shows without a network.

    Charts of irmeta are such charts. A notebook shows the SVG or PNG, or the chart itself where it
    can draw Vega-Lite, or where the chart is interactive. If another renderer of Altair than its
    default is enabled, it shows the chart.

    Parameters
    ----------
    chart : altair chart
        Any chart; it is changed in place.

    Returns
    -------
    altair chart
        The same chart. A chart that Altair makes of it by `properties` or `encode` is shown
        without a network too; one that Altair makes of several charts is not.

    Examples
    --------
    >>> import altair
    >>> chart = altair.Chart(store.means("AP", track="news")).mark_tick().encode(x="value")
    >>> irmeta.offline(chart).save("means.svg")
    """
    # Altair's classes make every attribute part of the chart.
    object.__setattr__(chart, "__class__", _offline_class(type(chart)))
    return chart


def sized(chart: Chart, width: Width | None) -> Chart:
    """Return a chart as wide as a column or the text of a paper with two columns."""
    if width is None:
        return offline(chart)
    check_choice("width", width, get_args(Width))
    spec = fit_width(to_spec(chart), WIDTHS[width])
    rows = spec.pop("datasets", None)
    resized = cast("Any", type(chart)).from_dict(spec, validate=False)
    if rows is not None:
        resized.datasets = rows
    return offline(resized)


def mime_bundle(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a chart in all forms that a notebook may show, and their metadata."""
    import vl_convert

    svg = svg_of(spec)
    png = vl_convert.svg_to_png(svg, scale=2)
    width, height = (int.from_bytes(png[at : at + 4]) // 2 for at in (16, 20))  # in its header
    version = str(spec["$schema"]).rpartition("/v")[2].partition(".")[0]
    bundle = {
        "text/plain": str(spec.get("description", "Figure")),
        "image/svg+xml": svg,
        "image/png": b64encode(png).decode(),
        f"application/vnd.vegalite.v{version}+json": spec,
    }
    if "params" in spec:
        bundle["text/html"] = _frame(spec, width + 200, height + 120)
    return bundle, {"image/png": {"width": width, "height": height}}


def _frame(spec: dict[str, Any], width: int, height: int) -> str:
    """Return HTML that contains the chart and the scripts that draw it.

    The scripts are in a frame of their own, so that they cannot change the notebook.
    """
    escaped = json.dumps(spec).replace("<", "\\u003c")  # no name may end the script
    page = html.escape(PAGE.format(script=_scripts(), spec=escaped))
    size = f'width="{width}" height="{height}" style="border: none"'
    return f'<iframe sandbox="allow-scripts" {size} srcdoc="{page}"></iframe>'


@cache
def _scripts() -> str:
    """Return Vega-Lite as JavaScript, which takes seconds to bundle."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


@cache
def _offline_class(kind: type[alt.TopLevelMixin]) -> type[alt.TopLevelMixin]:
    if issubclass(kind, OfflineChart):
        return kind
    return type(kind.__name__, (OfflineChart, kind), {"__module__": kind.__module__})
