"""Names of systems by file and by pattern, and names numbered by a kernel."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from irmeta.errors import DataError, UsageError
from irmeta.policies import ReadPolicy
from irmeta.trec import system_names
from irmeta.trec.numbered_names import Names
from irmeta.trec.system_names import file_names, pattern_name, stem, track_name
from support.examples import scaled


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/runs/bm25.v1.run.txt.gz", "bm25.v1"),
        ("a/runs/input", "input"),
        ("CUNI_EN_Run.10.dat.gz", "CUNI_EN_Run.10"),
        ("10x10.prf.unipd.it.gz", "10x10.prf.unipd.it"),
        ("sab20.1.meta.docs.gz", "sab20.1.meta.docs"),
        ("RUN.TXT", "RUN"),
        ("run.txt", "run"),
        (".gz", ".gz"),
        ("x.gz.1", "x.gz.1"),
    ],
)
def test_stem__drops_only_storage_extensions(file, name):
    assert stem(file) == name


@pytest.mark.parametrize(
    ("qrels", "name"),
    [("/r/robust-2003/qrels.txt", "robust-2003"), ("/r/dl/qrels/Qrels.gz", "dl"),
     ("/r/dl/2019.qrels.txt", "2019.qrels"), ("/qrels.txt", "qrels")],
)  # fmt: skip
def test_track_name__of_the_file_or_of_the_folder_of_qrels(qrels, name):
    assert track_name(Path(qrels)) == name


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["r/input.a.b.gz", "r/input.c.gz"], ["a.b", "c"]),
        (["r/input.bm25.gz", "r/input.rm3.gz"], ["bm25", "rm3"]),
        (["r/input.a.gz", "r/input.b.gz", "r/other.c.gz"], ["input.a", "input.b", "other.c"]),
        (["r/input.a.gz"], ["input.a"]),
        (["r/run.1", "r/run.2"], ["run.1", "run.2"]),  # a number alone is not a name
        (["r/bm25.a", "r/bm25.b"], ["bm25.a", "bm25.b"]),  # `bm25` is not a plain word, so it stays
        (["r/indri-ql.txt", "r/indri-rm.txt"], ["indri-ql", "indri-rm"]),
        (["a/run1.txt", "b/run1.txt", "b/run2.txt"], ["a/run1", "b/run1", "run2"]),
        (["a/x/input.r.gz", "a/y/input.r.gz"], ["x/r", "y/r"]),
        (["r/x.txt", "r/x.run", "r/y.run"], ["x.txt", "x.run", "y"]),
        (["r/x.txt", "r/x.txt.gz"], ["x.txt", "x.txt.gz"]),
        (["r/x", "r/x.gz", "r/sub/x"], ["x", "x.gz", "sub/x"]),
        (["../c/x", "/d/x"], ["../c/x", "/d/x"]),
        ([], []),
    ],
)
def test_file_names__examples(files, names):
    assert list(file_names(files).values()) == names


PARTS = st.sampled_from(["a", "input", "x", "gz", "txt", "run", ".", "-", "1"])
PATHS = st.lists(st.lists(PARTS, min_size=1, max_size=5).map("".join), min_size=1, max_size=3).map(
    "/".join
)


@given(st.lists(PATHS, unique=True, max_size=8))
def test_file_names__unique_and_independent_of_order(files):
    names = file_names(files)
    assert len(set(names.values())) == len(files)
    assert all(names.values())
    assert file_names(reversed(files)) == names


@pytest.mark.parametrize(
    ("pattern", "file", "name"),
    [
        (r"input\.(.*)\.gz", "a/runs/input.a.b.gz", "a.b"),
        (r"(?:.*-)?(\w+)\.txt", "runs/x-y.txt", "y"),
        (r"input\.(.*)\.gz", "r/x.gz", None),
        (r"input\.(.*)\.gz", "r/input.a.gz.old", None),
        (r"input\.(.*)\.gz", "r/my-input.a.gz", None),
        (r"input\.(.*)\.gz", "input.a.gz/x", None),
        (r"(x)?.*", "r/run.gz", None),
        (r"(.*)run\.gz", "r/run.gz", None),
    ],
)
def test_pattern_name__returns_group_of_a_full_match(pattern, file, name):
    assert pattern_name(pattern, file) == name


def test_pattern_name__slow_pattern_is_an_error_naming_the_pattern(monkeypatch):
    monkeypatch.setattr(system_names, "MATCH_SECONDS", 0.05)
    pattern, began = r"(?:\w|[a-z])*([0-9])[A-Z]", time.thread_time()
    with pytest.raises(DataError) as error:
        pattern_name(pattern, "r/" + "a" * 60)
    assert time.thread_time() - began < 5
    assert repr(pattern) in str(error.value)
    assert "takes too long on this name" in str(error.value)


@pytest.mark.parametrize("names", ["auto", "tag", "file", r"input\.(.*)\.gz"])
def test_read_policy__names_round_trip_through_record(names):
    policy = ReadPolicy(names=names)
    assert ReadPolicy.from_record(policy.record()) == policy
    assert ReadPolicy().names == "auto"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("((", r"is not a pattern \(.*\)"),
        ("fiel", r"has 0 groups, not one. Did you mean 'file'\?"),
        ("(a)(b)", "has 2 groups, not one. Known: auto, file, tag; or a pattern such as"),
        (None, "is not text"),
        (3, "is not text"),
    ],
)
def test_read_policy__invalid_names_are_refused(names, said):
    with pytest.raises(UsageError, match=f"^names = .*{said}"):
        ReadPolicy(names=names)


texts = st.text(st.sampled_from("abé\0"), max_size=20)


@settings(max_examples=scaled(300))
@given(st.lists(st.one_of(texts, texts.map("clueweb09-en0000-".__add__)), unique=True), st.data())
@example(["a", "a\0", "a" * 8, "a" * 8 + "\0", "a" * 9, ""], None)
def test_names__are_sorted_by_their_bytes(several: list[str], data: st.DataObject | None):
    names = Names()
    numbers = names.numbers(pl.Series(several, dtype=pl.String))
    if data is not None and several:
        numbers = numbers[: data.draw(st.integers(0, len(several)))]
    found = numbers[names.sort(numbers)].tolist()
    assert found == sorted(numbers.tolist(), key=lambda number: several[number].encode())
    assert names.texts() == several


def test_names__restart_forgets_all():
    names = Names()
    names.numbers(pl.Series(["a", "b"]))
    names.restart()
    assert names.numbers(pl.Series(["b", "c"])).tolist() == [0, 1]
    assert names.texts() == ["b", "c"]
    assert np.count_nonzero(names.table) == 2
