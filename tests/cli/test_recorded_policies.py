"""Policies that a folder of results records, in all commands and functions that take the folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.results.tidy_files import provenance
from support.making import Track, down
from support.stderr import without_notes

MADE = "--queries retrieved --qrels second"
TRACK = """[tracks.t]
runs = ["t/runs/*"]
[[tracks.t.qrels]]
name = "first"
file = "t/qrels.txt"
[[tracks.t.qrels]]
name = "second"
file = "t/second.txt"
"""


@pytest.fixture
def out(run, tmp_path: Path, undrawn: None) -> Path:
    """Results by another qrels set and other queries than the default."""
    runs = {"a": {"1": down("x", "y"), "2": down("w")}, "b": {"1": down("y", "x")}}
    folder = Track(runs, {"1": {"x": 1, "y": 0}, "2": {"w": 0, "z": 1}}).write(tmp_path / "c")
    (folder / "t" / "qrels.txt").write_text("1 0 x 1\n1 0 y 0\n2 0 w 0\n2 0 z 1\n")
    (folder / "t" / "second.txt").write_text("1 0 x 0\n1 0 y 1\n2 0 w 1\n")
    (folder / "collection.toml").write_text(TRACK)
    done = run("reanalyze", folder, "--out", tmp_path / "out", "-m", "AP", *MADE.split())
    assert done.status == 0, done.err
    return tmp_path / "out"


def means(store: irmeta.Store, **choices: Any) -> list[float]:
    return store.means("AP", **choices)["value"].to_list()


@pytest.mark.exhaustive
def test_results__evaluate_power_and_compare_give_their_values(run, out: Path) -> None:
    made = pl.read_parquet(out / "means.parquet").filter(measure="AP")["value"].to_list()
    assert made == [0.75, 1.0]
    assert means(irmeta.open_store(out)) == made
    assert means(irmeta.open_store(out / "store")) == [0.5, 0.25]
    note = f"irmeta: {out} was made with {MADE}\n"
    evaluated = run("evaluate", out, "-m", "AP", "--out", out / "e.parquet")
    assert evaluated.err.startswith(note)
    assert pl.read_parquet(out / "e.parquet")["value"].to_list() == made
    assert provenance(out / "e.parquet")["eval_policy"]["qrels"] == "second"
    compared = run("compare", out, "-m", "AP", "--format", "csv", "--test", "sign")
    assert compared.err.startswith(note)
    assert "b,1.0,1" in compared.out
    assert "store" not in run("evaluate", out / "store", "-m", "AP").err


@pytest.mark.exhaustive
def test_results__choices_on_the_line_differ_or_reset(run, out: Path) -> None:
    plain = run("evaluate", out / "store", "-m", "AP")
    reset = run("evaluate", out, "-m", "AP", "--queries", "judged", "--qrels", "first")
    assert reset.out == plain.out
    different = "; different here: --queries judged --qrels first\n"
    assert without_notes(reset.err) == f"irmeta: {out} was made with {MADE}{different}"
    alike = run("evaluate", out, "-m", "AP", "--queries", "retrieved")
    assert without_notes(alike.err) == f"irmeta: {out} was made with {MADE}\n"
    compared = [
        run("compare", folder, "--test", "sign", "--format", "csv", *more)
        for folder, more in (
            (out / "store", ("-m", "AP", "--queries", "judged")),
            (out, ("--queries", "judged", "--qrels", "first")),
        )
    ]
    assert compared[0].out == compared[1].out
    assert compared[1].err.startswith(f"irmeta: {out} was made with {MADE}{different}")
    opened = irmeta.open_store(out)
    assert means(opened, queries="judged", qrels=None) == [0.5, 0.25]
    assert means(opened, qrels=None) == [0.5, 0.5]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "command",
    [
        ("prefer", "-m", "RPP"),
        ("explain", "-m", "AP", "--system", "a", "--query", "1"),
        ("pool", "--pool-depth", "1"),
        ("truncation", "-m", "AP"),
        ("power", "-m", "AP"),
    ],
)
def test_commands__use_the_recorded_policies(run, out: Path, command: tuple[str, ...]) -> None:
    name, *rest = command
    choices = MADE.split()[2:]
    if name in ("power", "truncation"):
        choices = MADE.split()
    ours = run(name, out, *rest)
    theirs = run(name, out / "store", *rest, *choices)
    assert (ours.status, ours.out) == (theirs.status, theirs.out)
    assert ours.err.startswith(f"irmeta: {out} was made with {' '.join(choices)}\n")


@pytest.mark.exhaustive
def test_studies__use_the_recorded_policies(run, out: Path, tmp_path: Path) -> None:
    done = run("study", "search-length", out, "--out", tmp_path / "i", "--negative", "nonrelevant")
    different = "different here: --negative nonrelevant"
    assert done.err.startswith(f"irmeta: {out} was made with {MADE}; {different}\n")
    options: Any = irmeta.studies.open(tmp_path / "i").options
    assert (options.qrels, options.queries) == (("second",), "retrieved")
    found: Any = irmeta.studies.search_length(out, tmp_path / "p", queries="judged").options
    assert (found.qrels, found.queries) == (("second",), "judged")
    again = run("reanalyze", out, "--out", tmp_path / "r", "-m", "AP")
    assert again.err.startswith(f"irmeta: {out} was made with {MADE}\n")
    assert pl.read_parquet(tmp_path / "r" / "means.parquet")["value"].to_list() == [0.75, 1.0]


@pytest.mark.exhaustive
def test_store_repr__names_policies_of_results(out: Path) -> None:
    policies = "qrels='second'"
    assert f"evaluated as the results in {out}: queries='retrieved', {policies}" in repr(
        irmeta.open_store(out)
    )
    assert f"the results in {out} have other policies: queries='retrieved', {policies}" in repr(
        irmeta.open_store(out / "store")
    )


@pytest.mark.exhaustive
def test_results__damaged_record_is_an_error(out: Path) -> None:
    record = out / ".parts" / ".all" / "files.json"
    record.write_bytes(record.read_bytes().replace(b"second", b"fourth"))
    with pytest.raises(irmeta.DataError, match=r"files\.json: is damaged"):
        irmeta.open_store(out)
    assert means(irmeta.open_store(out / "store")) == [0.5, 0.25]
