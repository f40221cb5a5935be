"""One figure in a file of the user's choice: SVG, PDF or PNG by its extension."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from irmeta.errors import UsageError
from irmeta.files import remove_temporaries, write_bytes
from irmeta.report.theme import PPI, print_of, svg_of, to_spec
from irmeta.report.titles import without_titles
from irmeta.report.vega import vega_print

ENDINGS = (".svg", ".pdf", ".png")


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

    Raises
    ------
    UsageError
        See `check_figure_file`.
    """
    check_figure_file(path, force=force)
    remove_temporaries(path.parent)
    spec = to_spec(chart) if titles else without_titles(to_spec(chart))
    if path.suffix == ".svg":
        write_bytes(path, svg_of(spec).encode())
    else:
        pdf, png = print_of(spec) if fit else vega_print(spec, PPI)
        write_bytes(path, pdf if path.suffix == ".pdf" else png)
