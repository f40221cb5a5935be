"""Figures drawn in other processes."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.parallel import ordered_map
from irmeta.report import theme
from irmeta.report.figures import rarity_histogram
from irmeta.studies import drawing_processes

FRAME = pl.DataFrame({"retrieved_by": [0, 1, 2], "docs": [3, 2, 1]})
SPEC = rarity_histogram(FRAME).to_dict()
OTHER = rarity_histogram(FRAME.head(2)).to_dict()


def process(drawer: drawing_processes.Drawer) -> int:
    assert drawer._process is not None
    return drawer._process.pid


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_drawing__process_draws_equal_figures_and_ends() -> None:
    here, printed = drawing_processes.svg(SPEC), drawing_processes.printed(SPEC, ["png"], 100)
    with drawing_processes.apart(2):
        assert drawing_processes.svg(SPEC) == drawing_processes.svg(SPEC) == here
        images = drawing_processes.printed(SPEC, ["pdf", "png"], 100)
        assert images["pdf"].startswith(b"%PDF")
        assert images["png"] == printed["png"]
        pids = {process(drawer) for drawer in begun()}
        assert len(pids | {os.getpid()}) == 3
    assert all(map(gone, pids))
    assert drawing_processes._drawers is None


def begun() -> list[drawing_processes.Drawer]:
    """Return the drawers of the current `apart`: without system fonts, then with them."""
    assert drawing_processes._drawers is not None
    return drawing_processes._drawers.plain.all + drawing_processes._drawers.full.all


PLAIN = ["Größe – ‘α’ ≥ 1 … −2", "1\n2"]
OTHER_FONTS = ["系统", "عدد", "𝒳 → ə", "a·b", "per‐query"]


@pytest.mark.parametrize("texts", [PLAIN, OTHER_FONTS], ids=["plain", "other fonts"])
def test_drawing__text_width_equals_system_fonts(texts: list[str]) -> None:
    specs = list(map(labelled, texts))
    here = list(map(drawing_processes.svg, specs))
    with drawing_processes.apart(2):
        assert list(map(drawing_processes.svg, specs)) == here
        assert [drawer._fonts for drawer in begun()] == [texts is OTHER_FONTS]


def labelled(text: str) -> dict[str, Any]:
    """Return a chart with an axis label, whose measured width is part of the chart's width."""
    return {
        "data": {"values": [{"name": 3 * text, "value": 1}]},
        "mark": "bar",
        "encoding": {"y": {"field": "name"}, "x": {"field": "value", "type": "quantitative"}},
        "config": {"font": theme.FONT, "axis": {"labelLimit": 0}},
    }


@pytest.mark.skipif(sys.platform != "linux", reason="fontconfig chooses fonts there alone")
def test_drawing__svg_process_does_not_load_system_fonts() -> None:
    with drawing_processes.apart(2):
        drawing_processes.svg(SPEC)
        assert len(begun()) == 1
        drawing_processes.printed(SPEC, ["png"], 72)
        plain, full = (
            Path(f"/proc/{process(drawer)}/environ").read_text(encoding="utf-8")
            for drawer in begun()
        )
    (path,) = re.findall(r"FONTCONFIG_FILE=([^\0]+/report/fonts\.conf)", plain)
    assert "none" in Path(path).read_text(encoding="utf-8")
    assert path not in full


def test_drawing__failed_figure_does_not_stop_the_next() -> None:
    with drawing_processes.apart(2):
        with pytest.raises(IrmetaError, match="cannot be drawn"):
            drawing_processes.svg({"mark": 1})
        assert drawing_processes.svg(SPEC).startswith("<svg")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_drawer__killed_process_loses_one_figure(stop: signal.Signals) -> None:
    drawer = drawing_processes.Drawer()
    drawer.draw(SPEC, ["svg"])
    os.kill(process(drawer), stop)
    with pytest.raises(IrmetaError, match="has ended"):
        drawer.draw(SPEC, ["svg"])
    assert drawer.draw(SPEC, ["svg"])["svg"].startswith("<svg")
    drawer.close()
    drawer.close()


def test_drawer__process_does_not_receive_ctrl_c() -> None:
    drawer = drawing_processes.Drawer()
    drawer.draw(SPEC, ["svg"])
    assert os.getpgid(process(drawer)) != os.getpgid(0)
    drawer.close()


def test_drawer__incomplete_answer_is_an_error() -> None:
    drawer = drawing_processes.Drawer()
    drawer.draw(SPEC, ["svg"])
    assert drawer._process is not None
    real = drawer._process.stdout
    reader, writer = os.pipe()
    os.write(writer, b'{"svg": "<sv')
    os.close(writer)
    drawer._process.stdout = io.FileIO(reader)
    with pytest.raises(IrmetaError, match="has ended"):
        drawer.draw(SPEC, ["svg"])
    assert real is not None
    real.close()
    assert drawer._process is None


def test_drawer__interrupted_answer_is_discarded(monkeypatch) -> None:
    drawer = drawing_processes.Drawer()
    here = drawer.draw(SPEC, ["svg"])
    with monkeypatch.context() as patch:
        patch.setattr(drawing_processes, "_ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            drawer.draw(OTHER, ["svg"])
    assert drawer.draw(SPEC, ["svg"]) == here
    drawer.close()


def interrupted(process, what) -> bytes:
    process.stdin.write(json.dumps(what).encode() + b"\n")
    process.stdin.flush()
    raise KeyboardInterrupt


@pytest.mark.parametrize("python", ["", None, "/no/such/python", "/bin/true"])
def test_drawing__falls_back_to_this_process_without_python(python, monkeypatch) -> None:
    here, printed = drawing_processes.svg(SPEC), drawing_processes.printed(SPEC, ["png"], 72)
    monkeypatch.setattr(sys, "executable", python)
    with drawing_processes.apart(2):
        assert drawing_processes.svg(SPEC) == here
        assert drawing_processes.printed(SPEC, ["png"], 72)["png"] == printed["png"]


def test_drawing__process_uses_the_import_path_of_the_parent(tmp_path: Path) -> None:
    """The path may contain the current folder, or a colon, which PYTHONPATH cannot express."""
    odd = tmp_path / "a:b"
    odd.mkdir()
    (odd / "irmeta").symlink_to(Path(irmeta.__file__).parent)
    code = (
        "import sys, irmeta; from irmeta.studies import drawing_processes as d;"
        "d._begin = (lambda begin: lambda fonts: begin(fonts) or sys.exit('none'))(d._begin)\n"
        "with d.apart(2): print(len(d.svg({'mark': 'point', 'data': {'values': [{}]}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=odd, capture_output=True, text=True)
    assert done.stdout.strip().isdigit(), done.stderr


def test_drawing__concurrent_users_share_processes() -> None:
    assert drawing_processes.threads() == 1
    first, second = drawing_processes.apart(2), drawing_processes.apart(3)
    first.__enter__()
    second.__enter__()
    assert drawing_processes.threads() == 3
    drawing_processes.svg(SPEC)
    first.__exit__(None, None, None)
    (drawer,) = begun()
    drawing_processes.svg(SPEC)
    pid = process(drawer)
    second.__exit__(None, None, None)
    assert gone(pid)
    assert drawing_processes._drawers is None
    assert drawing_processes.threads() == 1


def test_reanalyze__interruption_leaves_no_process(
    collections: Path, tmp_path: Path, monkeypatch
) -> None:
    processes: list[subprocess.Popen] = []
    begin = subprocess.Popen

    def slowly(*args: Any, **kwargs: Any) -> subprocess.Popen:
        time.sleep(0.3)
        processes.append(begin(*args, **kwargs))
        return processes[-1]

    def stop(track: str, done: int, total: int) -> None:
        if processes:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", slowly)
    with pytest.raises(KeyboardInterrupt):
        irmeta.reanalyze(collections, tmp_path / "out", workers=2, progress=stop)
    assert processes
    assert all(gone(process.pid) for process in processes)


@pytest.mark.skipif(os.name != "posix", reason="Windows waits for no pipe")
def test_drawing__unneeded_figure_is_not_waited_for(monkeypatch) -> None:
    """A process that does not answer is killed when its figure is no longer needed."""
    monkeypatch.setattr(drawing_processes, "_begin", lambda fonts: subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ))  # fmt: skip
    drawers: list[drawing_processes.Drawer] = []
    begun = threading.Event()

    def task(item: int) -> object:
        if item == 0:
            begun.wait(9)
            raise ValueError("another figure fails")
        drawers.append(drawing_processes.Drawer())
        threading.Timer(0.2, begun.set).start()
        return drawers[0].draw(SPEC, ["svg"])

    with pytest.raises(ValueError, match="another figure"):
        list(ordered_map(task, range(2), workers=2))
    assert drawers[0]._process is None


def test_reanalyze__figures_use_processes_only_with_several_workers(
    two_tracks: Path, tmp_path: Path, monkeypatch
) -> None:
    kinds: list[bool] = []
    begin = drawing_processes._begin

    def counted(fonts: bool):
        kinds.append(fonts)
        return begin(fonts)

    monkeypatch.setattr(drawing_processes, "_begin", counted)
    for workers in (1, 2):
        assert not kinds
        irmeta.reanalyze(two_tracks, tmp_path / str(workers), workers=workers)
    assert 1 <= len(kinds) <= 2
    assert not any(kinds)


def test_reanalyze__failed_figure_fails_its_track_only(
    collections: Path, tmp_path: Path, monkeypatch
) -> None:
    draw = drawing_processes.draw

    def lose(spec: dict, formats):
        if "finchDiv" in str(spec):
            raise IrmetaError("a figure is lost")
        return draw(spec, formats)

    monkeypatch.setattr(drawing_processes, "draw", lose)
    with pytest.raises(IrmetaError, match=r"1 of 3 tracks failed\. track web: a figure is lost"):
        irmeta.reanalyze(collections, tmp_path / "out")
    means = pl.read_parquet(tmp_path / "out" / "means.parquet")
    assert set(means["track"]) == {"news", "passage"}
