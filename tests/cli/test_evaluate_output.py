"""Formats, digits and order of what `irmeta evaluate` prints."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from irmeta.measures.names import PRESETS
from irmeta.results.scores import COUNTS
from support.stderr import without_notes

WEB = ("-m", "AP,ASL", "--track", "web")


def scores(text: str) -> list[dict[str, Any]]:
    """Return the rows of JSON output."""
    return json.loads(text)["tables"]["scores"]


@pytest.fixture
def files(collections: Path) -> list[Path]:
    """Qrels and two runs."""
    runs = collections / "news" / "runs"
    return [collections / "news" / "qrels.txt", runs / "aldBM25.gz", runs / "aldBM25fb.gz"]


@pytest.mark.exhaustive
def test_sort__systems_by_a_measure_best_first_within_tracks(run, made_store) -> None:
    tracks = ("--track", "web", "--track", "news")
    for measure, direction in (("AP", 1), ("ASL", -1)):
        rows = scores(
            run(
                "evaluate", made_store.path, "-m", "AP,ASL", *tracks,
                "--sort", measure, "--format", "json",
            ).out
        )  # fmt: skip
        assert [r["measure"] for r in rows[:2]] == ["AP", "ASL"], "rows of a system stay together"
        for track in ("news", "web"):
            values = [
                direction * r["value"]
                for r in rows
                if r["track"] == track and r["measure"] == measure
            ]
            assert values == sorted(values, reverse=True)
    by_value = run("evaluate", made_store.path, *WEB, "--sort", "value", "--format", "json")
    values = [row["value"] for row in scores(by_value.out)]
    assert values == sorted(values, reverse=True)
    done = run("evaluate", made_store.path, *WEB, "--sort", "valu")
    assert (done.status, done.out) == (2, "")
    assert "no column or measure 'valu' to sort by. Did you mean 'value'?" in done.err


def test_sort__queries_by_the_mean_of_their_system(run, files: list[Path]) -> None:
    lines = run("evaluate", *files, "-m", "AP", "-q", "--sort", "map").out.splitlines()
    assert lines[1].startswith("aldBM25fb,901,")
    assert lines[-1].startswith("aldBM25,925,")


@pytest.mark.exhaustive
def test_depth__cuts_lists_of_files_but_not_of_a_store(run, files, made_store) -> None:
    cut = run("evaluate", *files, "-m", "AP", "--depth", 10).out
    assert cut == run("evaluate", *files, "-m", "AP@10").out.replace("@10", "")
    done = run("evaluate", made_store.path, "-m", "AP", "--depth", 10)
    assert done.status == 2
    assert "A cutoff such as AP@100 needs no other depth." in done.err


@pytest.mark.exhaustive
def test_strict__skipped_run_gives_status_3(run, made_store, collections: Path) -> None:
    for source in (made_store.path, collections):
        some = ("evaluate", source, "-m", "AP", "--strict", "--track")
        done = run(*some, "passage")
        assert done.status == 3
        assert "nuthFirst.txt" in without_notes(done.err).splitlines()[-1]
        assert done.out.startswith("track,system,")
        assert run(*some, "web").status == 0


@pytest.mark.exhaustive
def test_trec_eval_format__equals_the_trec_eval_command(run, files) -> None:
    asked = ("num_q", "num_rel_ret", "map", "Rprec", "iprec_at_recall.0.1", "P.10", "ndcg_cut.7")
    measures = [word for name in asked for word in ("-m", name)]
    theirs = run("trec_eval", "-q", "-c", *measures, *files[:2])
    ours = run("evaluate", *files[:2], *measures, "-q", "--format", "trec_eval")
    assert (ours.status, ours.out) == (0, theirs.out)
    means = run("evaluate", *files[:2], *measures, "--format", "trec_eval").out
    assert means == "".join(line for line in ours.out.splitlines(True) if "\tall\t" in line)


@pytest.mark.exhaustive
def test_trec_eval_format__own_names_and_one_track(run, files, made_store) -> None:
    done = run("evaluate", *files, "-m", "AP@7,ASL", "--format", "trec_eval", "--digits", 1)
    assert [line.split() for line in done.out.splitlines()] == [
        ["runid", "all", "aldBM25"],
        ["map_cut_7", "all", "0.1"],
        ["ASL", "all", "94.4"],
        ["runid", "all", "aldBM25fb"],
        ["map_cut_7", "all", "0.2"],
        ["ASL", "all", "73.2"],
    ]
    refused = run("evaluate", made_store.path, "-m", "AP", "--format", "trec_eval")
    assert (refused.status, refused.out) == (2, "")
    assert "name it with --track (news, passage, web)" in refused.err


@pytest.mark.exhaustive
def test_measures__five_by_default(run, files: list[Path]) -> None:
    frame = pl.read_csv(io.StringIO(run("evaluate", *files).out))
    assert frame["measure"].unique(maintain_order=True).to_list() == [*PRESETS["basic"]]
    assert run("evaluate", *files, "-m", "basic").out == run("evaluate", *files).out


@pytest.mark.exhaustive
def test_table__counts_of_lists_only_where_not_zero_or_verbose(run, files: list[Path]) -> None:
    def columns(*more: str, form: str = "table") -> set[str]:
        head = run("evaluate", *files, "-m", "AP,ASL", "--format", form, *more).out.splitlines()[0]
        return {
            name
            for name in COUNTS
            if name
            in head.replace("no list", "no_list").replace(
                "lists without nonrelevant", "lists_without_nonrelevant"
            )
        }

    assert columns() == set()
    assert columns("--verbose") == columns(form="csv") == {*COUNTS}


def test_table__counts_of_lists_that_are_not_zero(run, two_tracks: Path) -> None:
    run_file = next((two_tracks / "ties" / "runs").iterdir())
    lines = run_file.read_text().splitlines(keepends=True)
    query = lines[0].split()[0]
    run_file.write_text("".join(line for line in lines if line.split()[0] != query))
    out = run("evaluate", two_tracks, "-m", "AP", "--track", "ties", "--format", "table").out
    assert "no list" in out
    assert "lists without" not in out
