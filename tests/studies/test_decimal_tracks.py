"""Tracks of click rates without a least relevant grade, beside a track of graded labels."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import RelevanceWarning


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of a track of click rates from 0 to 0.3, and one of grades 0 to 2."""
    folder, rng = tmp_path_factory.mktemp("mixed"), np.random.default_rng(0)
    for name in ("clicks", "grades"):
        (folder / "collection" / name / "runs").mkdir(parents=True)
        of_track = folder / "collection" / name
        grades = rng.random((8, 20)) * 0.3 if name == "clicks" else rng.integers(0, 3, (8, 20))
        labels = [
            f"q{query} 0 d{doc} {grade:.3g}"
            for query, row in enumerate(grades)
            for doc, grade in enumerate(row)
        ]
        (of_track / "qrels.txt").write_text("\n".join(labels))
        for system in range(6):
            lists = [
                f"q{query} Q0 d{doc} {rank} {100 - rank} s{system}"
                for query in range(8)
                for rank, doc in enumerate(rng.permutation(20)[:15])
            ]
            (of_track / "runs" / f"s{system}").write_text("\n".join(lists))
    irmeta.ingest(folder / "collection", folder / "store")
    return folder / "store"


@pytest.mark.study
@pytest.mark.parametrize("study", ["trust", "innovation", "depth", "preference", "search_length"])
def test_study__leaves_out_a_track_of_rates_and_goes_on(study: str, mixed: Path, tmp_path: Path):
    with pytest.warns(RelevanceWarning, match="left out") as caught:
        done = getattr(irmeta.studies, study)(mixed, tmp_path / "out", figures=False)
    said = [str(one.message) for one in caught if one.category is RelevanceWarning]
    assert len({text for text in said if "track clicks" in text}) == 1
    assert not any("track grades" in text for text in said)
    tracks = done.tables["studied_tracks"].rows_by_key("track", named=True, unique=True)
    assert tracks["grades"]["used"]
    assert not tracks["clicks"]["used"]
    assert "name the least relevant grade" in tracks["clicks"]["left_out"]
    if study == "trust":
        measured = done.tables["grades"].filter(track="clicks")["measure"].unique().sort()
        assert measured.to_list() == ["ERR@20", "RPP", "nDCG", "nDCG@10", "nDCG@100"]
        assert done.tables["grades"].filter(pl.col("measure") == "AP")[
            "track"
        ].unique().to_list() == ["grades"]


@pytest.mark.study
def test_study__uses_a_track_of_rates_with_its_least_relevant_grade(mixed: Path, tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelevanceWarning)
        done = irmeta.studies.trust(mixed, tmp_path / "out", figures=False, rel=("qrels=0.2",))
    assert done.tables["studied_tracks"]["used"].to_list() == [True, True]


def test_reanalyze__computes_graded_measures_of_a_track_of_rates(mixed: Path, tmp_path: Path):
    with pytest.warns(RelevanceWarning, match="left out"):
        irmeta.reanalyze(mixed, tmp_path / "out", measures="basic", figures=False)
    means = pl.read_parquet(tmp_path / "out" / "means.parquet")
    by_track = dict(means.group_by("track").agg(pl.col("measure").unique().sort()).iter_rows())
    assert by_track["clicks"] == ["nDCG", "nDCG@10"]
    assert set(by_track["grades"]) > {"AP", "nDCG", "nDCG@10"}
