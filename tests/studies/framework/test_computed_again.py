"""What a study computes and draws again when its options, inputs or declarations change."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.schema.columns import TRACK, Column, Table
from irmeta.studies.framework import recorded_files as files
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from support import tiny
from support.tiny import content, run
from support.undrawn import charts_are_built

ALL = ("a", "b", "c")


@pytest.mark.usefixtures("undrawn")
def test_run__second_run_computes_nothing(store: irmeta.Store, tmp_path: Path):
    run(store, tmp_path / "out")
    before = content(tmp_path / "out")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "figures").rglob("*.svg")}
    tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("computed again"))
    again = run(store, tmp_path / "out")
    assert again.batch is not None
    assert (again.batch.analysed, again.batch.unchanged) == ((), ALL)
    assert content(tmp_path / "out") == before
    assert {p: p.stat().st_mtime_ns for p in times} == times, "unchanged charts are left alone"


@pytest.mark.exhaustive
def test_run__without_titles_draws_again_and_computes_nothing(store: irmeta.Store, tmp_path: Path):
    def recorded(out: Path) -> tuple[set[str], dict[str, str]]:
        found = files.RecordedFiles(out, files.folder_of("a")).recorded()
        figure = found["figures/tracks/a/own.svg"]
        return set(found), {name: figure[name] for name in ("chart", "caption")}

    with charts_are_built():
        run(store, tmp_path / "out")
        names, titled = recorded(tmp_path / "out")
        tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("computed again"))
        again = run(store, tmp_path / "out", titles=False)
        assert again.batch is not None
        assert again.batch.failed == ()
        assert again.tables["values"]["track"].unique().sort().to_list() == list(ALL)
        names_after, untitled = recorded(tmp_path / "out")
        assert names_after == names
        assert untitled["chart"] != titled["chart"]
        assert titled["caption"] == "One track."
        assert untitled["caption"].startswith("One track. Higher is better; median 0.")
        assert untitled["caption"] in (tmp_path / "out" / "report.html").read_text()
        run(store, tmp_path / "out")
        assert recorded(tmp_path / "out") == (names, titled)


@pytest.mark.exhaustive
def test_run__without_figures_writes_tables_that_are_drawn_later(
    store: irmeta.Store, tmp_path: Path
):
    out = tmp_path / "out"
    plain = run(store, out, figures=False)
    assert not (out / "figures").exists()
    assert "were not drawn: run the study again with figures" in plain.report.read_text()
    run(store, tmp_path / "drawn")
    tables = set(content(tmp_path / "drawn", ".svg", ".png", ".html"))
    assert content(out, ".html").keys() == tables
    tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("computed again"))
    run(store, out)
    assert content(out) == content(tmp_path / "drawn")
    run(store, out, figures=False)
    assert content(out, ".html").keys() == tables


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_run__other_formats_draw_again_and_compute_nothing(store: irmeta.Store, tmp_path: Path):
    def images() -> set[str]:
        kept = (p for p in (tmp_path / "out").rglob("*") if p.suffix in (".svg", ".pdf", ".png"))
        return {p.relative_to(tmp_path / "out").as_posix() for p in kept}

    assert run(store, tmp_path / "out").formats == ("svg",)
    by_default = images()
    assert {Path(name).suffix for name in by_default} == {".svg"}
    tiny.FAILING |= dict.fromkeys(ALL, IrmetaError("computed again"))
    done = run(store, tmp_path / "out", formats="pdf")
    assert done.formats == ("svg", "pdf")
    pdfs = {f"{re.sub('^figures', 'latex', name)[:-4]}.pdf" for name in by_default}
    assert "latex/tracks/a/own.pdf" in pdfs
    assert images() == by_default | pdfs
    run(store, tmp_path / "out")
    assert images() == by_default
    with pytest.raises(UsageError, match=r"formats = 'pgn'.*png"):
        run(store, tmp_path / "out", formats="svg,pgn")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("change", ["option", "words", "revision", "measure", "part", "figure"])
def test_run__changed_input_is_computed_again(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
):
    out, words = tmp_path / "out", tmp_path / "words.txt"
    words.write_text("one")
    options: dict[str, Any] = {"words": str(words)}
    run(store, out, **options)
    expected = ALL
    if change == "option":
        options["rel"] = 2
    elif change == "words":
        words.write_text("two")
    elif change == "revision":
        monkeypatch.setattr(tiny, "STUDY", replace(tiny.STUDY, revision=2))
        monkeypatch.delitem(vars(irmeta.studies), "tiny")
    elif change == "measure":
        found = irmeta.measures.names.registry()["AP"]
        monkeypatch.setattr(type(found), "revision", 99, raising=False)
        monkeypatch.setattr("irmeta.measures.spec.Measure.revision", 99)
        monkeypatch.setitem(
            irmeta.measures.names.registry(), "AP", replace(found, revision=found.revision + 1)
        )
    elif change == "part":
        part, expected = out / ".parts" / "b" / "values.parquet", ("b",)
        part.write_bytes(part.read_bytes()[:-9] + b"123456789")
    else:
        (out / "figures" / "tracks" / "b" / "own.svg").unlink()
        expected = ("b",)
    again = run(store, out, **options)
    assert again.batch is not None
    assert again.batch.analysed == expected
    if change == "words":
        assert set(again.tables["values"]["text"]) == {"two"}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("change", ["column", "type", "table"])
def test_run__changed_table_is_computed_again_without_a_new_revision(
    store: irmeta.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
):
    run(store, tmp_path / "out")
    columns, more = dict(tiny.VALUES.columns), list[Table]()
    if change == "column":
        columns["note"] = Column("text", "a note", null=True)
    elif change == "type":
        columns["low"] = Column("text", "whether it is below a half")
    else:
        more.append(Table("notes", ("track",), {"track": TRACK, "note": columns["text"]}))
    values = replace(tiny.VALUES, columns=columns)

    def compute(track: TrackView, options: tiny.TinyOptions) -> TableRows:
        for name, rows in tiny.compute(track, options):
            if name == "values" and change == "column":
                rows = rows.with_columns(note=pl.lit("new"))
            elif name == "values" and change == "type":
                rows = rows.with_columns(low=pl.lit("new"))
            yield name, rows
        for table in more:
            yield table.name, [{"note": "new"}]

    tables = [values if t.name == "values" else t for t in tiny.STUDY.tables]
    changed = replace(tiny.STUDY, tables=(*tables, *more), compute=compute)
    monkeypatch.setattr(tiny, "STUDY", changed)
    monkeypatch.delitem(vars(irmeta.studies), "tiny")
    again = run(store, tmp_path / "out")
    assert again.batch is not None
    assert again.batch.analysed == ALL
    name, column = ("notes", "note") if more else ("values", "low" if change == "type" else "note")
    assert again.tables[name][column].unique().to_list() == ["new"]
