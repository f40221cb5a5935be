"""Options of printed and written tables, which all commands share."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from irmeta.errors import UsageError
from irmeta.files import check_target
from irmeta.locations import local
from irmeta.options import Options, option

if TYPE_CHECKING:
    from irmeta.cli.tables import Result


FORMATS = ("table", "csv", "json", "latex", "siunitx", "markdown", "parquet")
HINT = (
    "siunitx is LaTeX with numbers aligned at the decimal point; parquet is for a file or a pipe."
)
ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".md": "markdown",
    ".parquet": "parquet",
    ".tex": "latex",
}
"""Formats of files, by their ending."""
LISTED = f"{', '.join([*ENDINGS][:-1])} or {[*ENDINGS][-1]}"
FIGURES = (".svg", ".pdf", ".png")
PAPER = ("latex", "siunitx", "markdown")
"""Formats of tables for a paper."""


@dataclass(frozen=True)
class Display(Options):
    """How a command prints its table, or writes it to a file."""

    format: str | None = option(
        None,
        f"Format; default a table on a terminal, CSV in a pipe. {HINT}",
        choices=FORMATS,
    )
    digits: int | None = option(
        None,
        "Decimal places; default 6 in tables and CSV, 4 in LaTeX and Markdown, all in JSON and in "
        "files of CSV and Parquet.",
        least=0,
        most=17,
    )
    out: str | None = option(None, f"File for the result, {LISTED}.", metavar="FILE")
    caption: str = option(
        "",
        "In LaTeX and Markdown, text in place of the first sentence of the caption.",
        shown=False,
        metavar="TEXT",
    )
    label: str = option(
        "",
        "In LaTeX, label, with or without tab: (default: name of the table, digits of content).",
        shown=False,
        metavar="NAME",
    )
    system_names: str | None = option(
        None,
        "In LaTeX and Markdown, names to print for systems: CSV or TSV with columns system, name.",
        metavar="FILE",
    )
    csv_safe: bool = option(
        False, "In CSV, put an apostrophe before texts that a spreadsheet would run as a formula."
    )
    force: bool = option(False, "Replace files that irmeta did not write.")

    def __post_init__(self) -> None:
        """Check each option, and that the options do not contradict each other."""
        super().__post_init__()
        self.check()

    @property
    def file(self) -> Path | None:
        """The output file; None if the result is printed."""
        return None if self.out is None else Path(self.out)

    @property
    def form(self) -> str:
        """The format: by the ending of the file, as asked for, or the command's default."""
        if self.file is None:
            return self.format or self.plain()
        form = ENDINGS.get(self.file.suffix, "")
        return "siunitx" if (form, self.format) == ("latex", "siunitx") else form

    @property
    def is_paper(self) -> bool:
        """Whether the format is a table for a paper."""
        return self.form in PAPER

    def plain(self) -> str:
        """Return the format of printed output where none is asked for."""
        return "table" if sys.stdout.isatty() else "csv"

    def check(self) -> None:
        """Reject files with unknown endings, and options that contradict each other."""
        file, form = self.file, self.form
        if file is not None:
            self._check_file(file)
        elif form == "parquet" and sys.stdout.isatty():
            raise UsageError("parquet is not for a terminal: name a file by --out FILE.parquet.")
        if self.csv_safe and form != "csv":
            what = form if file is None else file
            raise UsageError(f"--csv-safe applies only to CSV, not to {what}.")
        for name in ("caption", "label", "system_names"):
            if getattr(self, name) and form not in (PAPER[:2] if name == "label" else PAPER):
                formats = "LaTeX" if name == "label" else "LaTeX and Markdown"
                what = form if file is None else file
                raise UsageError(
                    f"--{name.replace('_', '-')} is for {formats}, not for {what}: use --format "
                    "latex."
                )
        if self.digits is not None and (form == "parquet" or (file and form in ("csv", "json"))):
            raise UsageError("--digits is for printed output, LaTeX and Markdown.")

    def _check_file(self, file: Path) -> None:
        file = local(file)
        check_target(file, [*ENDINGS])
        if self.format not in (None, self.form):
            raise UsageError(f"--format {self.format}: the ending of {file} is its format.")

    def as_report(self) -> Display:
        """Return the options with text as the default format, for a result of several parts."""
        return ReportDisplay.of(self.record())

    def write(self, result: Result) -> None:
        """Print a result, or write it to the file and report its number of rows."""
        from irmeta.cli.tables import write_result

        write_result(result, self)


@dataclass(frozen=True)
class FolderDisplay(Display):
    """How a command prints its table, or writes it to a file or, with others, to a folder."""

    out: str | None = option(
        None,
        f"Folder for tables and figures; or a file for the printed table, {LISTED}. Default: none "
        "are written.",
        metavar="FOLDER|FILE",
    )

    @property
    def file(self) -> Path | None:
        """The output file; None if the result is printed."""
        return None if self.folder is not None else super().file

    @property
    def folder(self) -> Path | None:
        """The folder for several files: an output whose ending is not that of a file."""
        is_folder = self.out is not None and Path(self.out).suffix not in ENDINGS
        return Path(self.out or "") if is_folder else None

    def folder_for(self, formats: str) -> Path | None:
        """Return the folder for figures of the formats; None if none are written."""
        if self.folder is None and formats != "svg":
            raise UsageError("--formats is of figures: name their folder by --out FOLDER.")
        return None if self.folder is None else local(self.folder)


@dataclass(frozen=True)
class GateDisplay(FolderDisplay):
    """How `compare` prints its table, and writes the page of a gate, which ends with .html."""

    out: str | None = option(
        None,
        f"Folder for tables and figures; or a file for the printed table, {LISTED}; with "
        "--max-drop, .html: a page with the verdict and the queries that lost most. Default: none "
        "are written.",
        metavar="FOLDER|FILE",
    )

    @property
    def page(self) -> Path | None:
        """The page of a gate; None for any other output."""
        is_page = self.out is not None and Path(self.out).suffix == ".html"
        return Path(self.out or "") if is_page else None

    @property
    def file(self) -> Path | None:
        """The output file; None if the result is printed, as beside a page."""
        return None if self.page is not None else super().file

    @property
    def folder(self) -> Path | None:
        """The folder for several files."""
        return None if self.page is not None else super().folder

    def check_page(self, *, is_gate: bool) -> None:
        """Reject a page without a gate, before anything is computed."""
        if self.page is not None and not is_gate:
            raise UsageError(f"{self.page} would be the page of a gate: give --max-drop too.")
        if self.page is not None:
            check_target(local(self.page), [".html"])


@dataclass(frozen=True)
class ClaimDisplay(Display):
    """How `study claims` prints its table, or writes it or a figure to a file."""

    out: str | None = option(
        None,
        f"File for the table, {LISTED}, or for a figure, {', '.join(FIGURES)}.",
        metavar="FILE",
    )

    @property
    def figure(self) -> Path | None:
        """The file of a figure; None for any other output."""
        is_figure = self.out is not None and Path(self.out).suffix in FIGURES
        return Path(self.out or "") if is_figure else None

    @property
    def file(self) -> Path | None:
        """The output file; None if the result is printed, or is a figure."""
        return None if self.figure is not None else super().file

    def check(self) -> None:
        """Reject options that contradict each other, and options of tables beside a figure."""
        if self.figure is None:
            super().check()
            return
        check_target(local(self.figure), FIGURES, "a figure")
        if others := [name for name in self.changed() if name not in ("out", "force")]:
            flag = others[0].replace("_", "-")
            raise UsageError(f"--{flag} is for tables, and {self.figure} is a figure.")


@dataclass(frozen=True)
class ReportDisplay(Display):
    """How a command prints a result of several parts, by default as text with tables."""

    format: str | None = option(None, f"Format; default text with tables. {HINT}", choices=FORMATS)

    def plain(self) -> str:
        """Return the format of printed output where none is asked for."""
        return "table"


@dataclass(frozen=True)
class ValidationDisplay(FolderDisplay):
    """How `validate` prints runs and findings, or writes a text for each run to a folder."""

    format: str | None = option(
        None, f"Format of the findings; default text with tables. {HINT}", choices=FORMATS
    )
    out: str | None = option(
        None,
        f"Folder for a text per run, to send to its authors; or a file of findings, {LISTED}.",
        metavar="FOLDER|FILE",
    )

    def plain(self) -> str:
        """Return the format of printed output where none is asked for."""
        return "table"


@dataclass(frozen=True)
class VerifyDisplay(Display):
    """How `verify` prints tracks, and writes values to a file."""

    format: str | None = option(
        None,
        "Format of the output, a row per track; default a table on a terminal, CSV in a pipe. The "
        f"table, and JSON, also have what differs. {HINT}",
        choices=FORMATS,
    )
    out: str | None = option(
        None, f"File for every value, {LISTED}; then tracks are printed as text.", metavar="FILE"
    )


@dataclass(frozen=True)
class PoolDisplay(Display):
    """How `pool` prints docs, by default as lines ``query 0 doc``."""

    format: str | None = option(
        None, f"Format; default lines `query 0 doc`. {HINT}", choices=FORMATS
    )
    out: str | None = option(
        None, f"File for the docs, {LISTED}; with another ending, for the lines.", metavar="FILE"
    )

    @property
    def form(self) -> str:
        """The format; ``lines`` where neither the ending of the file nor an option is one."""
        return super().form or "lines"

    def plain(self) -> str:
        """Return the format of printed output where none is asked for."""
        return "lines"

    def check(self) -> None:
        """Reject options that contradict each other; a file of lines may have any ending."""
        if self.file is None or self.form != "lines":
            super().check()
        elif self.format is not None or self.csv_safe or self.digits is not None:
            asked = "--format" if self.format else "--csv-safe" if self.csv_safe else "--digits"
            raise UsageError(f"{asked} is for tables: {self.file} has the ending of no table.")


@dataclass(frozen=True)
class ScoreDisplay(Display):
    """How `evaluate` prints values."""

    format: str | None = option(
        None,
        "Format; default a table on a terminal, CSV in a pipe. LaTeX and Markdown have a column "
        f"per measure; {HINT}",
        choices=(*FORMATS, "trec_eval"),
    )
    sort: str | None = option(
        None,
        "Sort rows by a column, or systems by a measure, best first.",
        metavar="COLUMN|MEASURE",
    )
