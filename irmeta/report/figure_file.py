"""Files of figures, and charts that notebooks show without a network and save for a paper."""

from __future__ import annotations

import html
import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from irmeta.errors import check_choice
from irmeta.files import check_ours, check_target, remove_temporaries, write_bytes
from irmeta.report import FORMATS
from irmeta.report.theme import (
    PPI,
    PRINT_WIDTH,
    TEXT_WIDTH,
    fit_width,
    print_of,
    svg_of,
    to_spec,
    without_titles,
)
from irmeta.report.vega import vega_print, vega_svg

if TYPE_CHECKING:
    import altair as alt


_PNG_END = 12  # bytes of the last chunk, IEND
ENDINGS = tuple(f".{name}" for name in FORMATS)


def check_figure_file(path: Path, *, force: bool) -> None:
    """Reject an unsupported extension, a folder, and, unless `force`, an existing file."""
    check_target(path, ENDINGS, "a figure")
    check_ours(path, lambda _: False, force=force, problem="")


def write_figure(
    chart: Any, path: Path, *, force: bool, fit: bool = True, titles: bool = True
) -> None:
    """Write an Altair chart atomically; with `fit`, PDF and PNG are as wide as a column of print.

    Without `titles`, the figure has no title and subtitle, for use with a caption.
    """
    check_figure_file(path, force=force)
    remove_temporaries(path.parent)
    spec = to_spec(chart) if titles else without_titles(to_spec(chart))
    form = path.suffix.removeprefix(".")
    if form == "svg":
        write_bytes(path, svg_of(spec).encode())
    else:
        images = print_of(spec, [form]) if fit else vega_print(spec, [form], PPI)
        write_bytes(path, images[form])


def images_of(
    spec: dict[str, Any],
    formats: Collection[str],
    svg: Callable[[dict[str, Any]], str] = vega_svg,
    printed: Callable[[dict[str, Any], Collection[str], int], dict[str, bytes]] = vega_print,
) -> dict[str, bytes]:
    """Draw a spec of `to_spec` in the formats; PDF and PNG are as wide as a column of print.

    `svg` and `printed` draw Vega-Lite specs: see `svg_of` and `print_of`.
    """
    images = {"svg": svg_of(spec, svg).encode()} if "svg" in formats else {}
    if for_print := [name for name in formats if name != "svg"]:
        images |= print_of(spec, for_print, draw=printed)
    return images


def add_mark(image: bytes, form: str, mark: str) -> bytes:
    """Append a comment, or a chunk of text to a PNG, that says what wrote an image."""
    if form == "svg":
        return image + f"\n<!-- {mark} -->\n".encode()
    if form == "pdf":
        return image + f"\n% {mark}\n".encode()
    chunk = b"tEXtSoftware\0" + mark.encode("latin-1")
    packed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return image[:-_PNG_END] + packed + image[-_PNG_END:]


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
        escaped = json.dumps(spec).replace("<", "\\u003c")  # no name may end the script
        page = html.escape(PAGE.format(script=_scripts(), spec=escaped))
        size = f'width="{width + 200}" height="{height + 120}" style="border: none"'
        # a frame, so that the scripts cannot change the notebook
        bundle["text/html"] = f'<iframe sandbox="allow-scripts" {size} srcdoc="{page}"></iframe>'
    return bundle, {"image/png": {"width": width, "height": height}}


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
