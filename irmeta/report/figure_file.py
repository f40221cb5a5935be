"""Files of figures: one of the user's choice, its format by its extension; and marked files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from irmeta.errors import UsageError
from irmeta.files import remove_temporaries, write_bytes
from irmeta.report.figure_texts import without_titles
from irmeta.report.formats import FORMATS
from irmeta.report.theme import PPI, print_of, svg_of, to_spec
from irmeta.report.vega import vega_print, vega_svg

_PNG_END = 12  # bytes of the last chunk, IEND
ENDINGS = tuple(f".{name}" for name in FORMATS)


def check_figure_file(path: Path, *, force: bool) -> None:
    """Reject an unsupported extension, a folder, and, unless `force`, an existing file."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: the ending of a figure is .svg, .pdf or .png.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file.")
    if path.exists() and not force:
        raise UsageError(f"{path} exists: use `force=True` to replace it.")


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
