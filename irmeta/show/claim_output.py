"""Output of the claims of studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from irmeta._version import __version__
from irmeta.phrases import count
from irmeta.report.table_grid import Grid, grid
from irmeta.schema.columns import Column
from irmeta.show.console import open_console, print_table, print_text
from irmeta.show.frame_output import Result
from irmeta.show.notes import note
from irmeta.studies.framework.claim_section import PRINTED
from irmeta.studies.framework.claims import CLAIMS, FAILS, HOLDS, OPEN
from irmeta.studies.framework.claims_of import claims
from irmeta.studies.framework.registry import find


def claims_result(folders: Sequence[str], per_track: bool) -> Result:
    """Return the claims of the studies in some folders as the result of a command."""
    rows = claims(folders, per_track=per_track)
    made = {"irmeta": __version__, "study claims": {"folders": [*folders], "per_track": per_track}}
    caption = "Claims of the papers and their verdicts."
    for_print = partial(_for_print, rows, caption)
    show = partial(print_claims, rows)
    return Result("study claims", {"claims": rows}, caption, made, show=show, grid=for_print)


def print_claims(rows: pl.DataFrame, digits: int) -> None:
    """Print the claims of each study with their numbers, which are text, and verdicts."""
    console = open_console()
    for (name,), of_study in rows.group_by("study", maintain_order=True):
        study = find(str(name))
        print_text(console, f"{study.title}: {study.paper}".removesuffix(": "), "bold")
        columns = ["claim", "track", "shown", "condition", "verdict", "printed"]
        if of_study["track"].null_count() == of_study.height:
            columns.remove("track")
        names = {"shown": "here", "condition": "holds for", "printed": "the paper"}
        print_table(console, of_study.select(pl.col(n).alias(names.get(n, n)) for n in columns))
    over = rows.filter(pl.col("track").is_null(), kind="paper")
    held, failed, unknown = (over.filter(verdict=one).height for one in (HOLDS, FAILS, OPEN))
    note(
        f"irmeta: {count(over.height, 'claim')} of papers: {HOLDS}: {held}, {FAILS}: {failed}, "
        f"{OPEN}: {unknown}; --format csv has the claims in words, and why"
    )


def _for_print(rows: pl.DataFrame, caption: str, digits: int) -> Grid:
    """Return the claims as a table for a paper."""
    table = replace(CLAIMS, columns={"study": Column("name", "study"), **CLAIMS.columns})
    has_tracks = rows["track"].null_count() < rows.height
    columns = ("study", *PRINTED[:1], *(["track"] if has_tracks else []), *PRINTED[1:])
    return grid(table, rows, columns=columns, caption=caption)
