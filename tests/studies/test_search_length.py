"""The search-length study on small tracks: naive code, undefined results, and notes."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from irmeta.api import Store
from irmeta.api.per_doc import BUCKETS
from irmeta.errors import UsageError
from irmeta.measures.names import parse_measures
from irmeta.measures.search_length import UNRETRIEVED
from irmeta.rankings.load import judged_ranks
from irmeta.store import long_table as rows_of_groups
from irmeta.studies.framework.study import Tables
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.search_length import compute
from irmeta.studies.papers.search_length.compute import Gathered, effective_fraction_table
from irmeta.studies.papers.search_length.study import SearchLengthOptions
from support.examples import scaled
from support.making import Track, down, tracks
from support.studying import assert_rows, choices_of, filled, naive_track, same, studied
from support.undrawn import charts_are_built
from twins import atomized as naive
from twins import chain as naive_chain
from twins import track_means

pytestmark = pytest.mark.usefixtures("undrawn_module")

CHAINS = {"AP": "AP", "nDCG": "nDCG", "RBP(p=0.8)": "RBP", "ERR": "ERR", "P@20": "P@20", "RR": "RR"}
"""Map the name in the tables to the naive name."""
WITHOUT_LENGTHS = (
    *("headroom", "table_1", "asl_differences", "reordering", "moves", "length_differences"),
    *("best_by_choice", "search_length_histogram", "effective_fraction", "depth_sensitivity"),
)
"""Tables that are empty where search lengths are meaningless."""
DOCS = ("xyp", "pqx", "xqy", "yxp", "qxp", "xyz")


def gathered(store: Store, options: SearchLengthOptions) -> Gathered:
    specs = parse_measures(options.scored())
    function = partial(compute._of_block, options, specs)
    return compute._joined([*TrackView(store.track("t"), options).map_blocks(function, specs)])


def named(rows: list[naive.Row], chosen: SearchLengthOptions) -> list[naive.Row]:
    """Rename the measures of naive rows to the names under the given options."""
    names = {"P@20": chosen.p20, "AP": chosen.ap, "ASL": chosen.asl(), "ASL@g10": chosen.asl(10)}
    names |= {
        deep: chosen.asl(10 if "@" in deep else None, "depth") for deep in naive.DEEP.values()
    }
    columns = ("measure", "chosen_by")
    return [row | {c: names[row[c]] for c in columns if c in row} for row in rows]


def assert_study(tables: Tables, track: track_means.Track, chosen: SearchLengthOptions) -> None:
    """Check every table of a store with a single track, for any number of runs."""
    choices = {"rel": chosen.rel, "unretrieved": chosen.unretrieved}
    bins = {"buckets": chosen.buckets}
    used = track_means.has_lengths(track, chosen.rel)
    (row,) = tables["studied_tracks"].to_dicts()
    assert row["used"] == used
    assert row["queries"] == len(track_means.relevant_queries(track, chosen.rel))
    assert row["deepest_rank"] == track_means.deepest_rank(track)
    if not used:
        assert {tables[name].height for name in WITHOUT_LENGTHS} == {0}
        assert not tables["means"]["measure"].str.starts_with("ASL").any()
        assert tables["distributions"]["tracks"].sum() == 0
        return
    rows = named(naive.headroom(track, **choices), chosen)
    assert_rows(tables["headroom"], rows, "measure")
    assert_rows(tables["best_by_choice"], choices_of(track, chosen), "measure")
    rows = named(naive.distributions([track], **choices), chosen)
    assert_rows(tables["distributions"], rows, "figure", "low")
    rows = named(naive.classes([track], **choices), chosen)
    assert_rows(tables["classes"], rows, "measure", "low")
    shown = filled(tables["search_length_histogram"])
    histograms = [naive.length_histogram(track, s, **choices, **bins) for s in track["runs"]]
    assert_rows(shown, [row for rows in histograms for row in rows], "system", "low")
    measures = [m for m in naive.measures_of(chosen.unretrieved) if m in ("ASL", naive.DEEP["ASL"])]
    naive_rows = partial(naive.difference_histogram, track, **choices, **bins)
    rows = [row for name in measures for row in naive_rows(measure=name)]
    rows = named([row for row in rows if row["best"] != row["median"]], chosen)
    assert_rows(filled(tables["length_differences"]), rows, "measure", "low", "retrieved")
    rows = naive_chain.effective_fraction(track, chosen.rel)
    assert_rows(tables["effective_fraction"], rows, "system")
    summary = naive_chain.effective_summary([track], chosen.rel)
    del summary["tracks"]
    assert_rows(tables["effective_summary"], [summary])
    measures = {m for m in naive.measures_of(chosen.unretrieved) if m != naive.DEEP["ASL@g10"]}
    deep = [naive.depth_sensitivity(track, m, 3, **choices) for m in measures - {"P@20"}]
    assert_rows(tables["depth_sensitivity"], named(deep, chosen), "measure")


# Shrinking an example would take minutes, since each step runs the study.
@settings(max_examples=scaled(5), phases=[Phase.explicit, Phase.generate])
@given(tracks(), st.sampled_from(UNRETRIEVED), st.integers(1, 2), st.sampled_from(BUCKETS))
def test_search_length__tables_of_random_tracks_equal_naive_implementation(
    track: Track, unretrieved: str, rel: int, buckets: str
):
    varied = {"rel": rel, "unretrieved": unretrieved, "buckets": buckets}
    chosen = SearchLengthOptions(**varied)
    choices = varied | {"cut_depth": 3, "min_systems": 1}
    with TemporaryDirectory() as out, charts_are_built():
        if rel > 1 and rel > max(g for docs in track.qrels.values() for g in docs.values()):
            with pytest.raises(UsageError, match="the options exclude every track"):
                studied(track.read(), Path(out), **choices)
            return
        tables = studied(track.read(), Path(out), **choices).tables
        assert_study(tables, naive_track(track), chosen)


def test_search_length__results_do_not_depend_on_query_blocks(tmp_path, monkeypatch):
    """Some blocks have no judged query or no relevant doc."""
    runs = {
        f"s{i}": {q: down(*docs[i:], *docs[:i]) for q, docs in zip("abcdez", DOCS, strict=True)}
        for i in range(3)
    }
    qrels = {"b": {"p": 1, "q": 2}, "c": {"x": 0}, "d": {"x": 1, "y": 1}, "e": {"q": 3, "x": -1}}
    monkeypatch.setattr(rows_of_groups, "GROUP_ROWS", 1)
    store = Track(runs, qrels).ingest(tmp_path)
    whole = studied(store, tmp_path / "whole", min_systems=1).tables
    monkeypatch.setattr(judged_ranks, "__defaults__", (1, ()))
    assert len(list(judged_ranks(store.track("t")))) > 4
    parts = studied(store, tmp_path / "parts", min_systems=1).tables
    for name in whole:
        assert_frame_equal(parts[name], whole[name], rel_tol=1e-12, abs_tol=0)


@settings(max_examples=scaled(25), phases=[Phase.explicit, Phase.generate])
@given(tracks(), st.integers(1, 2))
def test_chains__random_tracks_equal_naive_implementation(track: Track, rel: int):
    own, chosen = naive_track(track), SearchLengthOptions(rel=rel)
    store = track.read()
    found = gathered(store, chosen)
    if not found.has_lengths:
        return
    old = {"AP": chosen.ap, "RBP(p=0.8)": chosen.rbp, "nDCG": "nDCG", "ERR": "ERR"}
    for chain in compute.CHAINS:
        expected = naive_chain.chain(own, CHAINS[chain.name], rel)
        own_values = found.chains["floor", chain.name]
        values = (own_values.worth, own_values.length)
        for step, each in zip((1, 3), values, strict=True):
            for system, column in zip(found.scores.systems, each.T, strict=True):
                by_query = dict(zip(found.scores.queries, column.tolist(), strict=True))
                wanted = expected[step]["new"][system]
                assert {q for q, v in by_query.items() if not math.isnan(v)} == wanted.keys()
                assert all(same(by_query[q], v) for q, v in wanted.items())
        matrix = found.scores.matrix(old[chain.name])
        done = list(compute.steps(chain, matrix, own_values, chosen))
        summaries, moves = compute.frames(chain.name, "floor", done)
        name = {"chain": chain.name, "track": "t"}
        rows = naive_chain.reordering(own, CHAINS[chain.name], rel)
        assert_rows(summaries, [row | name for row in rows], "step")
        rows = [row | name for row in naive_chain.moves(own, CHAINS[chain.name], rel)]
        assert_rows(moves, rows, "step", "system")


@settings(max_examples=scaled(60))
@given(tracks(systems=3, queries=3), st.integers(1, 3))
def test_effective_fraction__random_tracks_equal_naive_implementation(track: Track, rel: int):
    store = track.read()
    found = effective_fraction_table(gathered(store, SearchLengthOptions(rel=rel)))
    rows = naive_chain.effective_fraction(naive_track(track), rel)
    for row in rows:
        del row["track"]
    assert_rows(found, rows, "system")


# A study of one tiny track

GOOD, BAD = down("a", "x", "b"), down("x", "y", "a")
LISTS = {"q1": GOOD, "q2": down("c", "d", "y"), "q3": down("e", "x")}
QRELS = {"q1": {"a": 1, "b": 1, "x": 0}, "q2": {"c": 2, "d": 1, "y": 0}, "q3": {"e": 1}}


def study(track: Track, folder: Path, **choices: object) -> StudyResults:
    return studied(track.ingest(folder), folder / "out", **choices)


def page(results: StudyResults) -> str:
    return results.report.read_text(encoding="utf-8")


def row_of(results: StudyResults, table: str = "studied_tracks") -> dict[str, object]:
    (row,) = results.tables[table].to_dicts()
    return row


def test_search_length__single_system_has_no_comparison(tmp_path: Path):
    done = study(Track({"only": LISTS}, QRELS), tmp_path, min_systems=1)
    row = row_of(done)
    assert row["used"]
    assert "one system, so none to compare it with" in row["notes"]
    assert [done.tables[t].height for t in ("asl_differences", "length_differences")] == [0, 0]
    own = done.tables["headroom"]
    assert own["system"].to_list() == ["only"] * 6
    assert own["value"].to_list() == own["median"].to_list()
    assert set(done.tables["reordering"]["delta_sort"]) == {0.0}
    assert done.tables["reordering"]["tau"].is_nan().all()
    table_2 = done.tables["table_2"]
    assert table_2["tau"].is_nan().all()
    assert table_2["delta_sort_sd"].is_nan().all()
    assert "One system, so none to compare it with." in page(done)
    assert not (done.folder / "figures" / "tracks" / "t" / "figure_6.svg").exists()


def test_search_length__track_with_few_systems_is_excluded(tmp_path: Path):
    done = study(Track({"one": LISTS, "two": {"q1": BAD}}, QRELS), tmp_path)
    row = row_of(done)
    assert not row["used"]
    assert re.match("2 systems, .*5", row["left_out"])
    assert done.tables["reordering"].height == 2 * (4 * 4 + 2)
    assert done.tables["distributions"]["tracks"].sum() == 0
    assert done.tables["table_2"].height == 0
    summary = row_of(done, "effective_summary")
    assert summary["tracks"] == 0
    assert math.isnan(summary["fraction"])
    assert f"t is left out: {row['left_out']}." in page(done)
    assert f"Left out: {row['left_out']}." in page(done)
    assert "No track is left; each is described below." in page(done)
    one = study(Track({"one": LISTS}, QRELS), tmp_path / "one")
    assert re.match("1 system, .*5", row_of(one)["left_out"])


def test_search_length__perfect_system_has_undefined_error_reduction(tmp_path: Path):
    lists = {"q1": down("a", "b", "x"), "q2": down("c", "d", "y"), "q3": down("e", "x")}
    runs = {"perfect": lists, "other": {q: lines[::-1] for q, lines in LISTS.items()}}
    runs["other"] = {"q1": down("x", "a"), "q2": down("y", "c"), "q3": down("x", "e")}
    sides = {"baseline": "perfect", "contender": "other"}
    done = study(Track(runs, QRELS), tmp_path, min_systems=2, **sides)
    rrie = dict(done.tables["table_1"].select("measure", "rrie").rows())
    assert math.isnan(rrie["AP"])
    assert math.isnan(rrie["ASL"])
    assert math.isnan(rrie["ASL@g10"])
    assert rrie["P@20"] < 0
    fractions = dict(done.tables["effective_fraction"].select("system", "fraction").rows())
    assert fractions["perfect"] == 1.0
    best = done.tables["headroom"].filter(measure="ASL").row(0, named=True)
    assert (best["system"], best["value"]) == ("perfect", 1.0)


def test_search_length__no_system_retrieves_a_relevant_doc(tmp_path: Path):
    runs = {"one": {"q1": down("x", "y")}, "two": {"q1": down("y"), "q2": down("z")}}
    done = study(Track(runs, QRELS), tmp_path, min_systems=1)
    row = row_of(done)
    assert row["used"]
    assert "no system retrieves a relevant doc" in row["notes"]
    assert "No system retrieves a relevant doc." in page(done)
    fractions = done.tables["effective_fraction"]
    assert fractions["fraction"].is_nan().all()
    assert fractions["pooled"].is_nan().all()
    assert fractions.select("queries", "undefined").rows() == [(0, 3), (0, 3)]
    histogram = filled(done.tables["search_length_histogram"])
    assert histogram.select("low", "docs").rows() == [(None, 5), (None, 5)]
    ap = done.tables["reordering"].filter(chain="AP", step=0, unretrieved="floor")
    ap = ap.row(0, named=True)
    assert math.isnan(ap["delta_value"])
    assert ap["left_out"] == 2
    assert row_of(done, "effective_summary")["tracks"] == 0, "no track has a fraction to average"
    assert re.findall("[^ ]* nan[^a-z][^<]*", page(done), re.IGNORECASE) == []


def test_search_length__no_query_has_a_relevant_doc(tmp_path: Path):
    runs = {"one": {"q1": down("x", "y")}, "two": {"q1": down("y")}}
    done = study(Track(runs, {"q1": {"x": 0, "a": -1}}), tmp_path, min_systems=1)
    row = row_of(done)
    assert (row["used"], row["left_out"]) == (False, "no query has a relevant doc")
    assert {done.tables[name].height for name in WITHOUT_LENGTHS} == {0}
    assert "t is left out: no query has a relevant doc." in page(done)


def test_search_length__lists_without_nonrelevant_docs_are_excluded(tmp_path: Path):
    """As in the track legaldiv, every length would be 1."""
    runs = {
        "one": {"q1": down("a", "b"), "q2": down("c")},
        "two": {"q1": down("a"), "unjudged": down("x", "y")},
    }
    done = study(Track(runs, {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}), tmp_path, min_systems=1)
    row = row_of(done)
    assert not row["used"]
    reason = (
        "3 of 3 lists hold no doc that is not relevant, so search lengths and Bpref mean nothing"
    )
    assert row["left_out"].startswith(reason)
    measures = set(done.tables["means"]["measure"])
    assert not [name for name in measures if name.startswith(("ASL", "Bpref"))]
    assert {"AP", "P@20", "nDCG"} <= measures
    assert {done.tables[name].height for name in WITHOUT_LENGTHS} == {0}
    assert f"t is left out: {reason}" in page(done)


def test_search_length__bpref_needs_judged_nonrelevant_docs(tmp_path: Path):
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "n": -1}}
    done = study(Track({"one": LISTS, "two": {"q1": BAD}}, qrels), tmp_path, min_systems=1)
    measures = done.tables["means"]["measure"].unique().to_list()
    assert "ASL" in measures
    assert "Bpref" not in measures
    assert "no doc is judged non-relevant, so Bpref means nothing here" in row_of(done)["notes"]
    again = study(
        Track({"one": LISTS, "two": {"q1": BAD}}, qrels),
        tmp_path / "again",
        min_systems=1,
        negative="nonrelevant",
    )
    assert "Bpref" in again.tables["means"]["measure"]


def test_search_length__note_on_lists_without_nonrelevant_docs(tmp_path: Path):
    track = Track({"one": {"q1": down("a"), "q2": down("c")}, "two": {"q1": BAD, "q2": BAD}}, QRELS)
    done = study(track, tmp_path, min_systems=1)
    assert "2 lists hold no non-relevant doc: Eq. 3 gives" in row_of(done)["notes"]
    floor = study(track, tmp_path / "floor", min_systems=1, unretrieved="floor")
    assert "Eq. 3" not in (row_of(floor)["notes"] or "")
    # Eq. 3 gives 0 to the two misses of system one, b and d; q3 without a list has the depth, 4
    shown = filled(done.tables["search_length_histogram"]).filter(system="one")
    assert shown.select("low", "docs").rows() == [(1, 2), (None, 3)]
    assert done.tables["headroom"].filter(measure="ASL").row(0, named=True)["value"] == (
        pytest.approx((0.5 + 0.5 + 4) / 3)
    )


def test_missed_of_first__counts_the_first_relevant_docs_of_each_query():
    short = {"q1": down("a", "y"), "q2": down("y"), "q3": down("e")}
    found = gathered(Track({"full": LISTS, "short": short}, QRELS).read(), SearchLengthOptions())
    assert found.missed_of_first(None, "short") == pytest.approx(3 / 5), "b, c and d"
    assert found.missed_of_first(1, "short") == pytest.approx(1 / 3), "one of q2"
    assert found.missed_of_first(1, "full") == 0.0


def test_search_length__note_on_short_lists_that_win_by_equation_3(tmp_path: Path):
    long = {q: [*lines, *[(f"n{i}", -9 - i) for i in range(9)]] for q, lines in LISTS.items()}
    short = {"q1": down("x"), "q2": down("y"), "q3": down("x")}
    runs = {"long": {q: [*down("w", "v"), *[(d, -9 - i) for i, (d, _) in enumerate(rows)]]
                     for q, rows in long.items()}, "short": short}  # fmt: skip
    runs["other"] = runs["long"]  # so that the median system retrieves all
    done = study(Track(runs, QRELS), tmp_path, min_systems=1)
    said = "short, the best by ASL, does not retrieve 100% of the relevant docs;"
    assert said in page(done)
    assert "by ASL<sub>depth</sub> the best is long." in page(done)
    assert "<sub>depth</sub> counts them as if at rank D + 1, below the track" in page(done)
    assert "each doc of a query with n relevant docs has the weight 1/n" in page(done)


def test_search_length__step_values_by_hand(tmp_path: Path):
    """The track of support.hand_track, as in the tables."""
    runs = {
        "good": {"q1": down("a", "x", "b"), "q2": down("c", "d")},
        "middle": {"q1": down("x", "y", "a"), "q2": down("y", "d")},
        "late": {"q1": down("b"), "q3": down("z", "y", "x", "w")},
    }
    qrels = {"q1": {"a": 1, "b": 1, "x": 0}, "q2": {"c": 2, "d": 1, "y": 0}}
    done = study(Track(runs, qrels), tmp_path, min_systems=1)
    own = {"chain": "AP", "unretrieved": "floor"}
    moves = done.tables["moves"].filter(**own).sort("step", "system")
    values = np.array(moves["value"].to_list()).reshape(4, 3)
    assert values[0] == pytest.approx([48 / 55, 4 / 3, 2.4])
    assert values[1] == pytest.approx([21 / 22, 2.4, 2.8])
    assert values[3] == pytest.approx([0.96, 5 / 9, 15 / 16])
    assert moves.filter(step=1)["moved"].to_list() == pytest.approx([0, 0, 100 / 3])
    steps = done.tables["reordering"].filter(**own).sort("step")
    assert steps["tau"].to_list() == pytest.approx([1 / 3, 1, 1, 1 / 3])
    assert steps["furthest"].to_list() == ["middle", "middle", None, None]
    differences = filled(done.tables["length_differences"])
    assert differences.select("best", "median").unique().rows() == [("good", "middle")]
    own = differences.filter(measure="ASL").sort("low", "retrieved")
    assert own.select("low", "high", "docs", "retrieved").rows() == [
        *((-2, -2, 1, "both"), (-1, -1, 1, "both"), (0, 0, 2, "best")),
    ]
