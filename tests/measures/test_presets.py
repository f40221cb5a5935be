"""The preset trec_eval10 and its tie order."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.results.tidy_files import provenance
from support.making import Track

# These scores are equal in float32, where trec_eval 9 ranks the larger doc ID first.
TRACK = Track({"s": {"q": [("a", 0.100000001, 1), ("b", 0.1, 2)]}}, {"q": {"a": 1, "b": 0}})


def reciprocal_rank(store: irmeta.Store, measures: object, **choices: str) -> float:
    return store.means(measures, **choices).filter(measure="RR")["value"].item()


@pytest.mark.exhaustive
def test_trec_eval10_preset__breaks_ties_as_trec_eval_10(tmp_path: Path):
    store = TRACK.ingest(tmp_path)
    assert reciprocal_rank(store, "trec_eval") == 0.5
    for preset in ("trec_eval10", ["trec_eval10"], iter(["trec_eval10"])):
        assert reciprocal_rank(store, preset) == 1.0
    assert store.evaluate("trec_eval10", per_query=True).filter(measure="RR")[
        "value"
    ].to_list() == [1.0]
    scores = store.scores("trec_eval10", track="t")
    assert scores.values[scores.measures.index("RR")].tolist() == [[1.0]]
    record = store.provenance("trec_eval10")
    assert record["eval_policy"]["tie_order"] == "trec_eval10"
    assert record["tracks"]["t"]["tie_order"] == "trec_eval10"


@pytest.mark.exhaustive
def test_trec_eval10_preset__explicit_tie_order_takes_precedence(tmp_path: Path):
    store = TRACK.ingest(tmp_path)
    assert reciprocal_rank(store, "trec_eval10", tie_order="trec_eval") == 0.5
    for names in ("trec_eval10,RR", ["RR", "trec_eval10"], "trec_eval,trec_eval10"):
        with pytest.raises(UsageError, match="choose one tie order for all"):
            store.means(names)
        assert reciprocal_rank(store, names, tie_order="trec_eval") == 0.5


def test_trec_eval10_preset__refused_for_lists_cut_in_another_tie_order(tmp_path: Path):
    cut = TRACK.ingest(tmp_path / "nine", depth=1)
    with pytest.raises(UsageError, match="was cut at depth 1 under tie order 'trec_eval'"):
        cut.means("trec_eval10")
    ten = TRACK.ingest(tmp_path / "ten", depth=1, tie_order="trec_eval10")
    assert reciprocal_rank(ten, "trec_eval10") == 1.0


def test_evaluate_command__trec_eval10_preset_sets_tie_order(tmp_path: Path, run):
    TRACK.ingest(tmp_path)
    out = tmp_path / "values.parquet"
    assert run("evaluate", tmp_path / "store0", "-m", "trec_eval10", "--out", out).status == 0
    assert provenance(out)["eval_policy"]["tie_order"] == "trec_eval10"
    mixed = run("evaluate", tmp_path / "store0", "-m", "trec_eval10,AP")
    assert mixed.status == 2
    assert "--tie-order" in mixed.err


@pytest.mark.exhaustive
def test_reanalyze__trec_eval10_preset_sets_tie_order(tmp_path: Path, undrawn: None, run):
    source = TRACK.write(tmp_path / "collection")
    done = irmeta.reanalyze(source, tmp_path / "api", measures="trec_eval10")
    assert run("reanalyze", source, "--out", tmp_path / "cli", "-m", "trec_eval10").status == 0
    for folder in (done.folder, tmp_path / "cli"):
        means = pl.read_parquet(folder / "means.parquet")
        assert means.filter(measure="RR")["value"].to_list() == [1.0]
        assert provenance(folder / "means.parquet")["eval_policy"]["tie_order"] == "trec_eval10"
