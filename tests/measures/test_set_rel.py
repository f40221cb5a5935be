"""`rel` of a qrels set in collection.toml: the meaning of names that state none."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import irmeta
from irmeta.measures.names import parse_measures

SETS = {"human": "1 0 a 1\n1 0 b 0\n2 0 a 1\n", "umbrela": "1 0 a 2\n1 0 b 1\n2 0 a 1\n2 0 c 3\n"}
RUNS = {
    "s": "1 Q0 b 1 3 s\n1 Q0 a 2 2 s\n2 Q0 a 1 3 s\n2 Q0 c 2 1 s\n",
    "r": "1 Q0 a 1 3 r\n1 Q0 b 2 2 r\n2 Q0 c 1 3 r\n",
}
TOML = '[tracks.t]\nqrels = {human = "t/human.txt", umbrela = {file = "t/umbrela.txt", rel = 2}}\n'


def write(folder: Path, toml: str = TOML) -> Path:
    (folder / "t" / "runs").mkdir(parents=True)
    for name, text in SETS.items():
        (folder / "t" / f"{name}.txt").write_text(text)
    for name, text in RUNS.items():
        (folder / "t" / "runs" / f"{name}.txt").write_text(text)
    (folder / "collection.toml").write_text(toml)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> irmeta.Store:
    folder = tmp_path_factory.mktemp("sets")
    return irmeta.ingest(write(folder / "in"), folder / "store")


def values(store: irmeta.Store, names: str, qrels: str) -> dict[str, float]:
    means = store.evaluate(names, qrels=qrels, system="s")
    return dict(means.select("measure", "value").iter_rows())


@pytest.mark.exhaustive
def test_rel_of_a_set__is_meant_by_names_without_rel(store: irmeta.Store):
    assert values(store, "AP,RR", "human") == {"AP": 0.75, "RR": 0.75}
    found = values(store, "AP,map,RR", "umbrela")
    assert found == {"AP(rel=2)": 0.5, "RR(rel=2)": 0.5}
    assert found == values(store, "AP(rel=2),RR(rel=2)", "umbrela")


def test_rel_of_a_set__names_that_state_rel_keep_it(store: irmeta.Store):
    assert values(store, "AP(rel=1)", "umbrela") == {"AP": 1.0}
    assert values(store, "AP,AP(rel=1),AP(rel=3)", "umbrela").keys() == {
        "AP(rel=2)",
        "AP",
        "AP(rel=3)",
    }
    scores = store.scores("AP,map,AP(rel=1)", track="t", qrels="umbrela")
    assert scores.to_dict("s") == {"AP": 0.5, "map": 0.5, "AP(rel=1)": 1.0}


def test_rel_of_a_set__graded_gains_keep_every_grade(store: irmeta.Store):
    names = "nDCG@10,ERR,RBP(gain=linear)"
    plain = irmeta.from_data({"2": {"a": 1, "c": 3}}, {"s": {"2": {"a": 3.0, "c": 1.0}}})
    found = store.evaluate(names, qrels="umbrela", system="s", per_query=True).filter(query="2")
    expected = plain.evaluate(names)
    assert found["measure"].to_list() == expected["measure"].to_list()
    assert found["value"].to_list() == pytest.approx(expected["value"].to_list())


@pytest.mark.exhaustive
def test_rel_of_a_set__every_call_that_names_measures_means_it(store: irmeta.Store):
    qrels = "umbrela"
    names = {
        "curve": set(store.curve("AP", [1, 2], qrels=qrels)["measure"]),
        "compare": {one.pairs.measure for one in store.compare("AP", qrels=qrels)},
        "matrices": {one.measure for one in irmeta.matrices(store, "AP", qrels=qrels)},
        "explain": {store.explain("AP", system="s", query="1", qrels=qrels).measure},
        "provenance": set(store.provenance("AP", qrels=qrels)["measures"]),
        "truncation": set(store.stability.truncation("AP", qrels=qrels)["measure"]),
        "ties": set(store.pairs.ties("AP", qrels=qrels)["measure"]),
        "differences": set(store.pairs.differences("r", "s", "AP", qrels=qrels)["measure"]),
    }
    assert names == {call: {"AP(rel=2)"} for call in names}
    found = store.pairs.preferences("RPP,RPP(rel=1)", qrels=qrels)["preference"].unique().sort()
    assert found.to_list() == ["RPP", "RPP(rel=2)"]
    assert list(store.provenance("AP", qrels="human")["measures"]) == ["AP"]


def test_rel_of_a_set__is_that_of_the_set_by_subtopic(tmp_path: Path):
    toml = TOML.replace("rel = 2", "rel = 2, subtopics = true")
    store = irmeta.read(write(tmp_path, toml))
    found = store.evaluate("AP,StRecall@5", system="s", qrels="human")
    assert found["measure"].to_list() == ["AP", "StRecall(rel=2)@5"]


def test_rel_of_a_set__evaluate_command_shows_names_as_written(run, store: irmeta.Store):
    done = run("evaluate", store.path, "-m", "AP,AP(rel=1)", "--qrels", "umbrela", "--sort", "AP")
    rows = [line.split(",")[1:5] for line in done.out.splitlines()]
    assert rows[1:] == [
        ["r", "AP(rel=2)", "AP", "1.0"],
        ["r", "AP", "AP(rel=1)", "0.75"],
        ["s", "AP(rel=2)", "AP", "0.5"],
        ["s", "AP", "AP(rel=1)", "1.0"],
    ]


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (TOML.replace("rel = 2", "rel = 0"), "rel = 0 is not a number above 0"),
        (TOML.replace("rel = 2", "real = 2"), "is not a known key. Did you mean 'rel'"),
        ("[tracks.t]\nqrels = {human = 3}\n", "tracks.t.qrels.human = 3 is not a table"),
    ],
)
def test_rel_of_a_set__invalid_entry_names_the_key(tmp_path: Path, toml: str, said: str):
    with pytest.raises(irmeta.DataError, match=said):
        irmeta.read(write(tmp_path, toml))


def test_rel_of_a_set__store_without_it_is_unchanged(tmp_path: Path):
    toml = TOML.replace('{file = "t/umbrela.txt", rel = 2}', '"t/umbrela.txt"')
    folder = write(tmp_path / "in", toml)
    store = irmeta.ingest(folder, tmp_path / "store")
    record = (tmp_path / "store" / "tracks" / "t.json").read_text()
    assert '"rel"' not in record
    assert values(store, "AP", "umbrela") == {"AP": 1.0}


def test_parse_measures__pickled_measures_know_the_names_that_state_rel():
    (one,) = pickle.loads(pickle.dumps(parse_measures("AP,AP(rel=1)")))
    assert one.names == ("AP", "AP(rel=1)")
    assert one.stated == ("AP(rel=1)",)
    assert parse_measures("default")[7].stated == ()


def test_qrels_sets__have_judgments_and_grades_of_each_set(run, store: irmeta.Store):
    columns = ("set", "judgments", "lowest_grade", "highest_grade", "rel")
    assert store.qrels_sets().select(columns).rows() == [
        ("human", 3, 0, 1, 1),
        ("umbrela", 4, 1, 3, 2),
    ]
    lines = run("info", store.path).out.splitlines()
    assert [line.split() for line in lines if " umbrela " in line][-1] == [
        *("t", "umbrela", "2", "4", "0", "1", "3", "2")
    ]


def test_info_command__equal_notes_are_one_row(run, tmp_path: Path):
    folder = write(tmp_path)
    for name in ("x", "y", "z"):
        text = "1\ta\t2.0\n2\tc\t1.5\n".replace("a", name)
        (folder / "t" / "runs" / f"{name}.tsv").write_text(text)
    out = run("info", folder).out
    assert sum("and 2 more" in line for line in out.splitlines()) == 1


def test_agreement__of_two_qrels_sets_names_them(store: irmeta.Store):
    a, b = (irmeta.matrices(store, "nDCG@10", qrels=name)[0] for name in ("human", "umbrela"))
    assert irmeta.stats.agreement(a, b).measures == ("nDCG@10 (human)", "nDCG@10 (umbrela)")
    assert irmeta.stats.agreement(a, a).measures == ("nDCG@10", "nDCG@10")


@pytest.mark.parametrize(
    ("name", "near"), [("ndcg10", "ndcg@10"), ("P5", "P@5"), ("mrr_10", "mrr@10")]
)
def test_parse_measures__unknown_name_with_a_number_may_lack_the_at(name: str, near: str):
    with pytest.raises(irmeta.MeasureError, match=f"Did you mean '{near}'"):
        parse_measures(name)
