"""The page and the LaTeX tables of a study, from its tables, figures and sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import chain
from itertools import count as count_up
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.delimited import in_natural_order
from irmeta.errors import IrmetaError
from irmeta.locations import Location, local
from irmeta.measures.names import display_of
from irmeta.options import Options
from irmeta.phrases import count
from irmeta.report.html_page import Block, Page, Picture, render
from irmeta.report.latex import split_tracks, to_latex
from irmeta.report.notation import Notations
from irmeta.report.table_grid import Grid, grid, in_grey
from irmeta.report.table_grid import in_notation as grid_in_notation
from irmeta.schema.columns import paper_column
from irmeta.studies.framework.claim_print import cited, claim_table, claims_for_print, in_notation
from irmeta.studies.framework.part_tables import not_compared, used_only
from irmeta.studies.framework.recorded_files import RecordedFiles, folder_of
from irmeta.studies.framework.study import (
    CLAIMS,
    STUDIED_TRACKS,
    Section,
    Show,
    Study,
    Tables,
)

FILES_NOTE = (
    "The figures of the tracks are not inside this page but in the folder figures/: keep that "
    "folder beside the page."
)
NO_FIGURES_NOTE = (
    "The figures that the text refers to were not drawn: run the study again with figures."
)
WHOLE = "whole lists"  # of lists that were not cut at reading
MOST_EMBEDDED = 8 * 2**20
"""Bytes of the tracks' SVG files up to which a page contains them."""


def write_page(
    study: Study,
    files: RecordedFiles,
    tables: Tables,
    options: Options,
    tracks: Sequence[str],
    made: Mapping[str, Any],
) -> None:
    """Write report.html, and each table that the page shows as LaTeX.

    The page refers to the files of the tracks' figures if these exceed 8 MiB: 76 tracks have 55 MB.
    """
    used = used_only(tables, study.of_orders)
    by_track = [RecordedFiles(files.root, folder_of(track)) for track in tracks]
    svgs = (files.root / name for part in by_track for name, _ in svg_files(part))
    refers_to_files = sum(local(svg).stat().st_size for svg in svgs) > MOST_EMBEDDED
    pictures = pictures_in(files)
    in_print = files.facts.get("style", "paper") == "paper"
    every = used_only(tables)
    typesetter = Typesetter(study, study.in_prose(every) if in_print else None)
    sections = [
        typesetter.block(section, every, pictures)
        for section in study.call("sections", used, options)
    ]
    formats = files.facts["formats"] if study.drawn else []
    notes = [FILES_NOTE] if refers_to_files else []
    notes += [NO_FIGURES_NOTE] if study.drawn and not formats else []
    shown = (item for block in sections for item in block.items if isinstance(item, Grid))
    latex = {item.name: item for item in shown if item.in_latex and item.rows}
    claims = None
    if study.claims is not None:
        included = used[STUDIED_TRACKS.name].filter("used")["track"].to_list() if tracks else []
        stated, legend = tables[CLAIMS.name], ""
        if in_print:
            stated, legend = in_notation(stated, study.notation)
        claims = claim_table(stated, included, legend)
        latex[CLAIMS.name] = claims_for_print(stated, cited(study.name), legend)
    from_what = _provenance(study, options, made)
    comments = ["; ".join(f"{label}: {value}" for label, value in from_what.items())]
    files.write_all(
        {
            f"latex/{name}.tex": to_latex(
                cells, label=f"{study.name}-{name}", made=comments
            ).encode()
            for name, cells in _latex_files(latex, study.paper)
        }
    )
    page = Page(
        title=study.title,
        lead=f"{study.gives} {study.paper}".strip(),
        summary=_summary(tables),
        sections=sections,
        tracks=[
            _track(typesetter, files.root, tables, options, track, refers_to_files)
            for track in tracks
        ],
        notes=notes,
        provenance=from_what,
        files=list(_files(study, tables, formats, bool(latex))),
        claims=claims,
    )
    files.write("report.html", render(page).encode())


_ITEM = re.compile(r"\(((?:Table|Figure|Section|Appendix|Tables|Figures|Sections) [^()]*)\)")
_AS_PRINTED = re.compile(r"^The paper's ([^,]*), as printed")


def _latex_files(tables: Mapping[str, Grid], paper: str) -> Iterator[tuple[str, Grid]]:
    """Yield the tables of LaTeX by the names of their files; one for each track of a long table.

    Captions name the paper whose tables, figures or sections they mention.
    """
    taken, known = set(tables), re.match(r"[^,]+(?:, [^,]+)*? \d{4}(?=,)", paper)
    for name, table in tables.items():
        caption = table.caption
        if known is not None:
            caption = _ITEM.sub(lambda item, of=known[0]: f"({item[1]} of {of})", caption)
            caption = _AS_PRINTED.sub(
                lambda item, of=known[0]: f"{item[1]} of {of}, as printed", caption
            )
        for track, cells in split_tracks(replace(table, caption=caption)):
            ending = re.sub(r"[^A-Za-z0-9.]+", "_", track).strip("_.") or "track"
            stem = f"{name}_{ending}" if track else name
            again = (f"{stem}_{n}" for n in count_up(2))
            file = stem if not track else next(n for n in chain([stem], again) if n not in taken)
            taken.add(file)
            yield file, cells


def pictures_in(files: RecordedFiles, refers_to_files: bool = False) -> dict[str, Picture]:
    """Return the figures of one part by name: the SVG files with their captions.

    Of figures that the page refers to, only the root tag is kept, which has the size.
    """
    pictures = {}
    for name, facts in svg_files(files):
        svg, file = (files.root / name).read_bytes().decode(), ""
        if refers_to_files:
            svg, file = svg[: svg.find(">") + 1], name
        pictures[Path(name).stem] = Picture(svg, facts["caption"], facts["reading"], file)
    return pictures


def svg_files(files: RecordedFiles) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the names and facts of a part's SVG files, in the order of the page."""
    drawn = [(n, facts) for n, facts in files.recorded().items() if "order" in facts]
    svgs = [(n, facts) for n, facts in drawn if n.endswith(".svg")]
    return sorted(svgs, key=lambda one: (one[1]["order"], one[0]))


@dataclass(frozen=True)
class Typesetter:
    """Makes blocks of the page from sections: their tables, figures and texts."""

    study: Study
    prose: Notations | None  # notations of the measures in texts; None: canonical names

    def block(self, section: Section, tables: Tables, pictures: Mapping[str, Picture]) -> Block:
        """Return the block of a section, with the tables that name it in their declaration."""
        heading, items = section.heading, list[Grid | Picture]()
        declared = [
            t.name for t in self.study.tables if t.section and heading.startswith(t.section)
        ]
        for shown in (*section.show, *declared):
            items += self._items(section, shown, tables, pictures)
        text = [section.text] if isinstance(section.text, str) else section.text
        text, notes, below = (
            part if self.prose is None else [*map(self.prose, part)]
            for part in (text, section.notes, section.below)
        )
        return Block(heading, text, items, section.facts, notes, below, section.is_first)

    def _items(
        self,
        section: Section,
        shown: str | Show,
        tables: Tables,
        pictures: Mapping[str, Picture],
    ) -> list[Grid | Picture]:
        name = shown.table if isinstance(shown, Show) else shown
        if name in tables:
            return [self._grid(Show(name) if isinstance(shown, str) else shown, tables)]
        matches = [picture for figure, picture in pictures.items() if fnmatchcase(figure, name)]
        declared = [*self.study.by_table, *(figure.name for figure in self.study.drawn)]
        is_known = any(name.startswith(figure) or fnmatchcase(figure, name) for figure in declared)
        if not matches and not is_known:
            raise IrmetaError(f"section {section.heading!r}: no table or figure {name!r}")
        return [*matches]

    def _grid(self, show: Show, tables: Tables) -> Grid:
        study = self.study
        table, frame = study.table(show.table), in_natural_order(_rows(show, tables))
        if show.join is not None:
            joined_table = study.table(show.join.table)
            added = {name: joined_table.columns[name] for name in show.join.columns}
            shared = [name for name in table.columns if name in joined_table.columns]
            beside = _rows(show.join, tables).select(*shared, *added)
            frame = frame.join(beside, on=shared, how="left", validate="m:1", maintain_order="left")
            table = replace(table, columns={**table.columns, **added})
        for column, text in show.texts.items():
            texts = [text(row) for row in frame.iter_rows(named=True)]
            frame = frame.with_columns(pl.Series(column, texts, pl.String))
        for column, printed in show.printed.items():
            texts = [printed(row) for row in frame.iter_rows(named=True)]
            if any(texts):
                beside = pl.Series(paper_column(column), texts, dtype=pl.String)
                frame = frame.with_columns(beside)
                table = replace(table, paper={**table.paper, column: {}})
        cells = grid(
            table,
            frame,
            columns=show.columns,
            pivot=show.pivot,
            name=show.name,
            caption=show.caption,
            best=show.best,
            display=display_of,
        )
        if show.table in study.of_orders:
            cells = in_grey(cells, "track", not_compared(tables))
        if self.prose is not None:
            cells = grid_in_notation(cells, study.notations(frame))
        caption = f"{cells.caption} {show.about.get('', '')}".strip()
        cells = replace(cells, caption=caption, by_track=show.by_track, about=show.about)
        return replace(cells, folded=True, in_latex=False) if show.page_only else cells


def _rows(show: Show, tables: Tables) -> pl.DataFrame:
    frame = tables[show.table]
    for column, values in show.rows.items():
        frame = frame.filter(pl.col(column).is_in(list(values), nulls_equal=True))
    if show.without_cutoff:
        frame = frame.with_columns(pl.col("measure").str.replace(r"@[a-z]?[\d.]+$", ""))
    return frame


def _summary(tables: Tables) -> dict[str, int]:
    if STUDIED_TRACKS.name not in tables:
        return {}
    tracks = tables[STUDIED_TRACKS.name]
    used = tracks.filter("used")
    totals = used.select(pl.col("systems", "queries", "relevant").sum()).row(0, named=True)
    return {
        "tracks": used.height,
        **({"left out": tracks.height - used.height} if used.height < tracks.height else {}),
        **{
            name.replace("relevant", "relevant docs"): int(number)
            for name, number in totals.items()
            if name != "relevant" or used["deepest_rank"].sum()  # values have no docs
        },
    }


def _track(
    typesetter: Typesetter,
    root: Location,
    tables: Tables,
    options: Options,
    track: str,
    refers_to_files: bool,
) -> Block:
    """Return the section of one track: the shared part, then the part of this study."""
    of_track = {n: f.filter(track=track) for n, f in tables.items() if "track" in f.columns}
    row = of_track[STUDIED_TRACKS.name].row(0, named=True)
    pictures = pictures_in(RecordedFiles(root, folder_of(track)), refers_to_files)
    text = (
        f"{count(row['systems'], 'system')}, {count(row['queries'], 'query', 'queries')} with a "
        f"relevant doc, {count(row['relevant'], 'relevant doc')}, lists down to rank "
        f"{row['deepest_rank']:,}."
    )
    notes = [f"Left out: {row['left_out']}."] if row["left_out"] else []
    if row["not_compared"]:
        notes += [f"Claims on orders and pairs of systems leave it out: {row['not_compared']}."]
    notes += [f"{row['notes'][0].upper()}{row['notes'][1:]}."] if row["notes"] else []
    section = typesetter.study.call("track_section", of_track, options, track)
    if section is None:
        return Block(track, [text], list(pictures.values()), notes=notes)
    block = typesetter.block(section, of_track, pictures)
    texts = block.text or ([] if block.facts else [text])
    return replace(block, heading=track, text=texts, notes=[*notes, *block.notes])


def _provenance(study: Study, options: Options, made: Mapping[str, Any]) -> dict[str, str]:
    used = options.used()
    asked = {n: used.get(n, v) if v in (None, []) else v for n, v in options.record().items()}
    tracks = list(made.get("tracks", {}).values())
    orders = dict.fromkeys(track["tie_order"] for track in tracks)
    reading = [track["read_policy"] for track in tracks]
    named = (option.name for option in fields(options) if option.name in asked)
    return {
        "irmeta": made["irmeta"],
        "study": f"{study.name}, revision {study.revision}",
        **({"measures": ", ".join(made["measures"])} if made.get("measures") else {}),
        **({"tie order of lists": ", ".join(orders)} if orders else {}),
        **{
            f"at reading: {name.replace('_', ' ')}": ", ".join(
                dict.fromkeys(
                    WHOLE if (name, policy[name]) == ("depth", None) else _written(policy[name])
                    for policy in reading
                )
            )
            for name in (reading[0] if reading else ())
        },
        **{name.replace("_", " "): _written(asked[name]) for name in named},
    }


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "default" if value is None else str(value)


def _files(
    study: Study, tables: Tables, formats: Sequence[str], latex: bool
) -> Iterator[tuple[str, str]]:
    for table in study.by_table.values():
        if table.name not in tables and not table.apart:
            continue
        if table.apart:
            yield f"{table.name}/", f"{table.caption} One file per track."
        else:
            yield f"{table.name}.parquet", table.caption
    if images := [name.upper() for name in formats if name != "pdf"]:
        yield "figures/", f"Every figure as {' and '.join(images)}."
    for_print = ["the tables of this page as LaTeX (booktabs)"] if latex else []
    for_print += ["every figure as PDF"] if "pdf" in formats else []
    if for_print:
        text = " and ".join(for_print)
        yield "latex/", f"{text[0].upper()}{text[1:]}."
