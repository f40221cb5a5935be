"""Progress: loops that report, the function that is told, and the line on stderr."""

from __future__ import annotations

import io
import sys
import time

import polars as pl
import pytest

import irmeta
from irmeta import progress
from irmeta.progress import COMPILING, compiling, reported, showing

MATRIX = irmeta.Matrix([[0.1, 0.2], [0.3, 0.5], [0.2, 0.1]], ("1", "2", "3"), ("a", "b"), "AP")


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal on which progress is shown at once."""
    monkeypatch.setattr(sys, "stderr", stderr := Terminal())
    monkeypatch.setattr(progress, "WAIT", 0.0)
    monkeypatch.setattr(progress, "TICK", 0.01)
    monkeypatch.delenv(progress.SWITCH, raising=False)
    return stderr


def wait_for(stderr: io.StringIO, text: str) -> None:
    end = time.monotonic() + 20
    while text not in stderr.getvalue():
        assert time.monotonic() < end, stderr.getvalue()
        time.sleep(0.01)


def test_reported__of_nested_loops_the_outermost():
    seen = list[tuple[str, int, int]]()
    with showing("Counting", lambda *now: seen.append(now)):
        for _ in reported(range(3), 3, "threes"):
            assert list(reported("ab", 2, "letters")) == ["a", "b"]
        assert list(reported([], 0, "nothing")) == []
        for _ in reported("x", 1, "one"):  # leaves it to the loop inside
            assert list(reported("ab", 2, str.upper)) == ["a", "b"]
    assert list(reported("ab", 2, "letters")) == ["a", "b"]
    assert seen == [("threes", i, 3) for i in (1, 2, 3)] + [("A", 1, 2), ("B", 2, 2)]


def test_reported__an_error_does_not_silence_the_next_loop():
    seen = list[tuple[str, int, int]]()

    def failing() -> None:
        for _ in reported(range(2), 2, "twos"):
            _ = 1 / 0

    with showing("Counting", lambda *now: seen.append(now)):
        with pytest.raises(ZeroDivisionError):
            failing()
        assert list(reported("ab", 2, "letters")) == ["a", "b"]
    assert seen == [("letters", 1, 2), ("letters", 2, 2)]


def test_showing__line_of_a_terminal_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch):
    terminal = terminal_of(monkeypatch)
    with showing("Reading"):
        loop = reported(range(4), 4, "files\x1b")
        next(loop), next(loop)
        wait_for(terminal, r"Reading files\x1b: 1 of 4 (25 %), 0:00")
        compiling(True)
        wait_for(terminal, f"Reading: {COMPILING}, 0:0")
        compiling(False)
        with showing("Sorting"):  # of the outer line
            wait_for(terminal, "Reading")
    assert "Sorting" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("how", ["quick", "false", "switch", "pipe", "function"])
def test_showing__prints_nothing(how: str, monkeypatch: pytest.MonkeyPatch):
    terminal = terminal_of(monkeypatch)
    wanted: progress.Progress = {"false": False, "switch": True, "function": print}.get(how)
    if how == "quick":
        monkeypatch.setattr(progress, "WAIT", 60.0)
    if how == "switch":
        monkeypatch.setenv(progress.SWITCH, "0")
    if how == "pipe":
        monkeypatch.setattr(sys, "stderr", io.StringIO())
    with showing("Reading", wanted), showing("Sorting"):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_showing__lines_in_a_pipe_where_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", stderr := io.StringIO())
    monkeypatch.setattr(progress, "WAIT", 0.0)
    with showing("Reading", True):
        wait_for(stderr, "\n")
    assert stderr.getvalue() == "Reading, 0:00\n"


def test_functions__take_progress_and_refuse_another_value():
    seen = list[tuple[str, int, int]]()
    irmeta.compare([MATRIX, MATRIX], progress=lambda *now: seen.append(now))
    assert seen == [("tests", 1, 2), ("tests", 2, 2)]
    with pytest.raises(irmeta.UsageError, match="progress = 3 is neither true, false nor a"):
        irmeta.compare(MATRIX, progress=3)  # pyright: ignore[reportArgumentType]


def test_functions__that_take_long_count_what_they_do(made_store: irmeta.Store):
    seen = list[tuple[str, int, int]]()

    def note(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))

    judges = {"same": next(made_store.views("news")), "again": next(made_store.views("news"))}
    irmeta.permuted_means(judges["same"], judges, "P@5", draws=3, progress=note)
    assert seen == [("judges", 1, 2), ("judges", 2, 2)]
    seen.clear()
    irmeta.permuted_means(judges["same"], {"same": judges["same"]}, "P@5", draws=3, progress=note)
    assert seen[-1] == ("queries", 25, 25)
    seen.clear()
    space = irmeta.measure_properties("P@2", "truncated", length=8, progress=note)
    assert space.height
    assert all(0 < done <= total for _, done, total in seen)
    published = pl.DataFrame(
        {"track": ["news", "web"], "system": ["aldBM25", "heronQE"], "measure": ["map"] * 2,
         "value": ["0.2844", "0.3"]}
    )  # fmt: skip
    seen.clear()
    irmeta.verify(made_store, published, track=["news", "web"], progress=note)
    assert seen == [("tracks", 1, 2), ("tracks", 2, 2)]
    seen.clear()
    made_store.plot.curve("P", [1, 5], track="news", progress=note)
    made_store.plot.compare("AP", track="news", test="sign", progress=note)
    with pytest.raises(irmeta.UsageError, match="progress = 3 is neither"):
        made_store.plot.rarity("news", progress=3)  # pyright: ignore[reportArgumentType]
