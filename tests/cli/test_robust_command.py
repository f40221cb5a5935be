"""`irmeta compare --robust`: conclusions that other conditions undo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from irmeta.progress import showing


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Qrels of eight queries, and three runs of which each is better than the next."""
    queries = range(8)
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 d{d} {int(d < 3)}\n" for q in queries for d in range(9)))
    runs = []
    for name, skipped in (("good", 0), ("fair", 2), ("poor", 4)):
        runs.append(tmp_path / name)
        lines = []
        for q in queries:
            docs = [*(f"x{i}" for i in range(skipped + q % 2)), *(f"d{d}" for d in range(9))]
            lines += [f"{q} Q0 {doc} {i} {-i} {name}\n" for i, doc in enumerate(docs, 1)]
        runs[-1].write_text("".join(lines))
    return [qrels, *runs]


def test_compare__robust_of_files_prints_what_undoes_conclusions(files: list[Path], run):
    line = ("compare", *files, "-m", "AP", "--robust")
    made = json.loads(run(*line, "--format", "json").out)["tables"]
    assert [one["better"] for one in made["conclusions"]] == ["fair", "good", "good"]
    assert made["conditions"][-1]["condition"] == "all conditions together"
    assert made["best"]
    assert "Systems that no other beats safely" in run(*line, "--format", "table").out


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", ["csv", "latex", "siunitx", "markdown", "parquet"])
def test_compare__robust_in_formats_of_one_table_says_where_the_others_are(
    files: list[Path], run, tmp_path: Path, form: str
):
    file = ("--out", tmp_path / "one.parquet") if form == "parquet" else ("--format", form)
    done = run("compare", *files, "-m", "AP", "--robust", *file)
    assert done.status == 0
    assert " of 3 conclusions safe; what undoes the others: --format json or table" in done.err


@pytest.mark.parametrize(
    ("command", "rates", "minutes"),
    [
        (("compare", "--robust"), {"irmeta.cli.results.ROBUST": 20.0}, 3),
        (("prefer", "--resamples", "100"), {"irmeta.cli.comparisons.TESTED": 1.0}, 120),
    ],
)
def test_commands__all_pairs_of_many_systems_begin_with_an_estimate(
    files: list[Path],
    run,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple,
    rates: dict,
    minutes: int,
):
    name, *options = command
    assert "take about" not in run(name, *files, *options).err
    for rate, value in rates.items():
        monkeypatch.setattr(rate, value)
    assert f" 3 pairs of 3 systems take about {minutes} minutes" in run(name, *files, *options).err


@pytest.mark.parametrize(
    "command", [("compare", "-m", "AP", "--robust"), ("prefer", "--test", "hsd-randomised")]
)
def test_commands__of_all_pairs_report_their_progress(
    files: list[Path], run, monkeypatch: pytest.MonkeyPatch, command: tuple
):
    seen = list[tuple[str, int, int]]()
    name, *options = command
    with showing("Testing", lambda *now: seen.append(now)):
        assert run(name, *files, *options).status == 0
    what, done, total = seen[-1]
    assert done == total > 1
    assert [now for now in seen if now[0] == what] == [(what, i + 1, total) for i in range(total)]
