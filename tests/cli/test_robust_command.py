"""`irmeta compare --robust`: conclusions that other conditions undo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


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


def test_compare__robust_in_csv_says_where_its_tables_are(files: list[Path], run):
    done = run("compare", *files, "-m", "AP", "--robust", "--format", "csv")
    assert " of 3 conclusions safe; what undoes the others: --format json or table" in done.err
