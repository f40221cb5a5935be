"""Options of printed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from irmeta.errors import UsageError
from irmeta.options import Options, option


@dataclass(frozen=True)
class Display(Options):
    """How values are printed."""

    format: Literal["table", "csv", "json", "latex", "siunitx", "markdown", "trec_eval"] | None = (
        option(
            None,
            "Format of the output; default a table on a terminal, CSV in a pipe. siunitx is LaTeX "
            "with numbers aligned at the decimal point.",
        )
    )
    digits: int | None = option(
        None,
        "Decimal places; default 6 in tables and CSV, 4 in LaTeX and Markdown, all in JSON and "
        "in files.",
        least=0,
        most=17,
    )
    sort: str | None = option(
        None,
        "Sort rows by a column, or systems by a measure, best first.",
        metavar="COLUMN|MEASURE",
    )

    @property
    def is_paper(self) -> bool:
        """Whether the format is a table for a paper, with one column per measure."""
        return self.format in ("latex", "siunitx", "markdown")

    def check_file(self, out: object) -> None:
        """Reject options that a file of results does not have."""
        if self.format is not None:
            raise UsageError(f"--format is for printed output: the ending of {out} is its format.")
        if self.digits is not None:
            raise UsageError("--digits is for printed output: files hold all digits.")
