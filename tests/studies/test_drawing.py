"""Figures that other processes draw."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.report.figures import rarity_histogram
from irmeta.studies import drawing

FRAME = pl.DataFrame({"systems_retrieving": [0, 1, 2], "docs": [3, 2, 1]})
SPEC = rarity_histogram(FRAME).to_dict()


def process(drawer: drawing.Drawer) -> int:
    assert drawer._process is not None
    return drawer._process.pid


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_another_process_draws_the_same_and_is_gone_afterwards() -> None:
    here, printed = drawing.svg(SPEC), drawing.pdf_and_png(SPEC, 100)
    with drawing.apart():
        assert drawing.svg(SPEC) == drawing.svg(SPEC) == here
        pdf, png = drawing.pdf_and_png(SPEC, 100)
        assert pdf.startswith(b"%PDF")
        assert png == printed[1]
        assert drawing._drawers is not None
        (drawer,) = drawing._drawers.all
        pid = process(drawer)
        assert pid != os.getpid()
    assert gone(pid)
    assert drawing._drawers is None


def test_a_figure_that_cannot_be_drawn_is_an_error_and_the_next_is_drawn() -> None:
    with drawing.apart():
        with pytest.raises(IrmetaError, match="cannot be drawn"):
            drawing.svg({"mark": 1})
        assert drawing.svg(SPEC).startswith("<svg")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_ends_loses_one_figure(stop: signal.Signals) -> None:
    drawer = drawing.Drawer()
    drawer.draw(SPEC, None)
    os.kill(process(drawer), stop)
    with pytest.raises(IrmetaError, match="has ended"):
        drawer.draw(SPEC, None)
    assert drawer.draw(SPEC, None)["svg"].startswith("<svg")
    drawer.close()
    drawer.close()


def test_ctrl_c_is_for_who_asked() -> None:
    drawer = drawing.Drawer()
    drawer.draw(SPEC, None)
    os.kill(process(drawer), signal.SIGINT)
    assert drawer.draw(SPEC, None)["svg"].startswith("<svg")
    drawer.close()


def test_tracks_in_threads_are_drawn_apart_and_one_by_one_here(
    collections: Path, tmp_path: Path, monkeypatch
) -> None:
    begun: list[int] = []
    begin = drawing._begin

    def counted():
        begun.append(1)
        return begin()

    monkeypatch.setattr(drawing, "_begin", counted)
    for workers in (1, 2):
        assert not begun
        irmeta.reanalyze(collections, tmp_path / str(workers), workers=workers)
    assert 1 <= len(begun) <= 2


def test_a_track_whose_figure_is_lost_fails_and_the_others_do_not(
    collections: Path, tmp_path: Path, monkeypatch
) -> None:
    svg = drawing.svg

    def lose(spec: dict) -> str:
        if "finchDiv" in str(spec):
            raise IrmetaError("a figure is lost")
        return svg(spec)

    monkeypatch.setattr(drawing, "svg", lose)
    done = irmeta.reanalyze(collections, tmp_path / "out")
    assert done.batch.failed == (("web", "a figure is lost"),)
    assert set(done.batch.analysed) == {"news", "passage"}
