"""Options of the search-length study, and its results on the six real tracks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.report.theme import to_svg
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.papers.search_length.study import SearchLengthOptions
from support.charting import texts
from support.making import Track, down
from support.studying import assert_rows, made_track, studied
from twins import atomized as naive
from twins import track_means

pytestmark = pytest.mark.usefixtures("undrawn_module")


def best_of(store: irmeta.Store, track: str, measure: str) -> tuple[str, float]:
    """Return the best system by the store's means, ties broken by name."""
    means = store.means(measure, track=track)
    means = means.sort("value", "system", descending=[not measure.startswith("ASL"), False])
    return means["system"][0], means["value"][0]


def of_type(store: irmeta.Store, kind: str, track: str) -> list[str]:
    return store.systems(track).filter(pl.col("type") == kind)["system"].to_list()


# The sides of Table 1


def test_search_length__sides_chosen_by_system_facts(
    made_store: irmeta.Store, collections: Path, tmp_path: Path
):
    done = studied(made_store, tmp_path, baseline="type=automatic", contender="type=manual")
    rows = []
    for name in ("news", "passage", "web"):
        track = made_track(collections, name)
        sides = [of_type(made_store, kind, name) for kind in ("automatic", "manual")]
        if not all(sides):
            continue
        for measure in naive.measures_of():
            order = track_means.in_order(
                track_means.judged_means(track, measure), track_means.less_is_better(measure)
            )
            pair = [next(s for s in order if s in own) for own in sides]
            rows += [r for r in naive.groups(track, *pair) if r["measure"] == measure]
    assert {row["track"] for row in rows} >= {"news"}
    assert len({row["track"] for row in rows}) < 3, "a track without manual runs"
    assert_rows(done.tables["table_1"], rows, "track", "measure")
    assert "type=automatic and type=manual" in done.report.read_text(encoding="utf-8")
    compared = done.tables["asl_differences"].filter(comparison="contender - baseline")
    assert set(compared["track"]) == {row["track"] for row in rows}


def test_search_length__sides_chosen_by_name(
    made_store: irmeta.Store, collections: Path, tmp_path: Path
):
    done = studied(made_store, tmp_path, baseline="aldBM25", contender="doumMan1")
    rows = naive.groups(made_track(collections, "news"), "aldBM25", "doumMan1")
    assert_rows(done.tables["table_1"], rows, "track", "measure")
    compared = done.tables["asl_differences"].filter(comparison="contender - baseline")
    assert set(compared.select("a", "b").rows()) == {("doumMan1", "aldBM25")}


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"contender": "bets"}, "contender = 'bets': no such system.*'best'"),
        ({"baseline": "kind=manual"}, "'kind=manual': systems have no fact 'kind'"),
        ({"baseline": "tpye=manual"}, "no fact 'tpye'.*Did you mean 'type'"),
        ({"track": "newss"}, "has no track 'newss'. Did you mean 'news'"),
        ({"track": []}, "no track"),
    ],
)
def test_search_length__unknown_names_write_nothing(
    made_store: irmeta.Store, tmp_path: Path, choices: dict[str, object], said: str
):
    with pytest.raises(irmeta.IrmetaError, match=said) as error:
        studied(made_store, tmp_path / "out", **choices)
    assert isinstance(error.value, irmeta.UsageError | irmeta.MeasureError)
    assert not (tmp_path / "out" / "report.html").exists()


def test_search_length__missing_qrels_set_fails_the_track(made_store: irmeta.Store, tmp_path: Path):
    with pytest.raises(irmeta.IrmetaError) as error:
        studied(made_store, tmp_path, qrels="diversity")
    for track in ("news", "passage"):
        assert f"{track}: track '{track}' has no qrels set 'diversity'" in str(error.value)
    found = pl.read_parquet(tmp_path / "studied_tracks.parquet")
    assert found["track"].to_list() == ["web"]


def test_search_length__store_without_facts_is_named_in_error(tmp_path: Path):
    runs = {"one": {"q": down("a", "x")}, "two": {"q": down("x", "a")}}
    store = Track(runs, {"q": {"a": 1}}).ingest(tmp_path)
    with pytest.raises(irmeta.UsageError) as error:
        studied(store, tmp_path / "out", baseline="type=manual")
    assert "no system has this type. No track has the type of systems." in str(error.value)
    assert not (tmp_path / "out").exists()


# Other choices


@pytest.fixture(scope="module")
def other(made_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    out = tmp_path_factory.mktemp("other")
    choices = {"rel": 2, "unretrieved": "floor", "best_by": "nDCG@10", "track": ["web", "passage"]}
    return studied(made_store, out, **choices)


def test_search_length__tracks_and_rel_options(other: StudyResults, collections: Path):
    tracks = [made_track(collections, name) for name in ("passage", "web")]
    found = other.tables["studied_tracks"]
    assert found.select("track", "queries").rows() == [
        (track["name"], len(track_means.relevant_queries(track, 2))) for track in tracks
    ]
    measures = set(other.tables["headroom"]["measure"])
    assert measures == {
        *("P(rel=2)@20", "AP(rel=2)"),
        *("ASL(rel=2,unretrieved=floor)", "ASL(rel=2,unretrieved=floor)@g10"),
        *("ASL(rel=2,unretrieved=depth)", "ASL(rel=2,unretrieved=depth)@g10"),
    }
    assert "<dt>rel</dt><dd>2</dd>" in other.report.read_text(encoding="utf-8")


def test_search_length__best_by_selects_the_best_systems(
    other: StudyResults, made_store: irmeta.Store
):
    found = other.tables["headroom"]
    assert set(found["chosen_by"]) == {"nDCG@10"}
    for track in ("passage", "web"):
        best, _ = best_of(made_store, track, "nDCG@10")
        own = found.filter(track=track)
        assert set(own["system"]) == {best}
        means = made_store.means(own["measure"].to_list(), track=track, system=best)
        by = dict(means.select("measure", "value").rows())
        assert dict(own.select("measure", "value").rows()) == pytest.approx(by, rel=1e-12)
        differences = other.tables["asl_differences"].filter(track=track)
        assert set(differences.filter(comparison="best - median")["a"]) == {best}
        assert set(differences.filter(comparison="best - second")["a"]) == {best}
    assert "nDCG@10" in set(other.tables["means"]["measure"])


def test_search_length__qrels_option_equals_naive_implementation(
    made_store: irmeta.Store, collections: Path, tmp_path: Path
):
    done = studied(made_store, tmp_path, track="web", qrels="diversity")
    track = made_track(collections, "web", "web/diversity.qrels.txt")
    assert_rows(done.tables["headroom"], naive.headroom(track), "track", "measure")
    (row,) = done.tables["studied_tracks"].to_dicts()
    assert row["highest_grade"] == track_means.highest_grade(track)
    assert "diversity" in done.report.read_text(encoding="utf-8")


def test_search_length__depth_option_equals_naive_implementation(
    made_store: irmeta.Store, collections: Path, tmp_path: Path
):
    done = studied(made_store, tmp_path, track="passage", cut_depth=7)
    track = made_track(collections, "passage")
    rows = [
        naive.depth_sensitivity(track, m, 7) for m in ("AP", "ASL", "ASL@g10", naive.DEEP["ASL"])
    ]
    assert_rows(done.tables["depth_sensitivity"], rows, "measure")


def test_search_length__alpha_and_test_change_better_systems(
    made_store: irmeta.Store, tmp_path: Path
):
    def moved(**choices: object) -> float:
        out = tmp_path / "-".join(f"{k}{v}" for k, v in choices.items())
        tables = studied(made_store, out, track="passage", **choices).tables
        return tables["moves"].select(pl.col("better_old", "better_new").sum()).row(0)

    usual = moved()
    assert moved(alpha=0.5) > usual
    assert moved(test="t-unpaired") != usual


def test_search_length_options__round_trip_through_record():
    chosen = SearchLengthOptions(rel=2, best_by="map", cut_depth=7, baseline="a", seed=3)
    again = SearchLengthOptions.from_record(chosen.record())
    assert again == chosen
    assert chosen.best_by == "AP"
    assert again.scored() == chosen.scored()


# The six real tracks


def test_search_length__distribution_over_two_tracks_is_a_note(other: StudyResults):
    rows = other.tables["distributions"].filter(figure="Figure 1")
    shown = " ".join(texts(to_svg(other.figures["figure_1"])).split())
    filled = rows.filter(pl.col("tracks") > 0)
    assert filled["tracks"].sum() == 2
    assert "A distribution over tracks needs at least 3 tracks" in shown
    for low, high in filled.select("low", "high").iter_rows():
        assert f"{low:.1f}\u2013{high:.1f} (" in shown


@pytest.fixture(scope="module")
def real(real_store: irmeta.Store, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    out = tmp_path_factory.mktemp("real-study")
    return studied(real_store, out, baseline="type=automatic", contender="type=manual")


@pytest.mark.real
def test_search_length__legaldiv_is_excluded_with_reason(real: StudyResults):
    tracks = {row["track"]: row for row in real.tables["studied_tracks"].to_dicts()}
    assert [t for t, row in tracks.items() if not row["used"]] == ["legaldiv"]
    reason = tracks["legaldiv"]["left_out"]
    assert "search lengths and Bpref mean nothing here" in reason
    assert len(tracks) == 6
    measures = real.tables["means"].filter(track="legaldiv")["measure"].unique().to_list()
    assert "AP" in measures
    assert not [m for m in measures if m.startswith(("ASL", "Bpref"))]
    assert f"legaldiv is left out: {reason}." in real.report.read_text(encoding="utf-8")
    for name in ("headroom", "reordering", "effective_fraction", "search_length_histogram"):
        assert "legaldiv" not in set(real.tables[name]["track"])


@pytest.mark.real
def test_search_length__best_systems_equal_store_means(
    real: StudyResults, real_store: irmeta.Store
):
    found = real.tables["headroom"]
    assert found.height == 5 * 6
    for row in found.iter_rows(named=True):
        best = best_of(real_store, row["track"], row["measure"])
        assert (row["system"], row["value"]) == best, row
        assert row["chosen_by"] == row["measure"]
    counted = real.tables["distributions"].group_by("figure").agg(pl.col("tracks").sum())
    assert counted["tracks"].to_list() == [5] * 6


@pytest.mark.real
def test_search_length__manual_and_automatic_runs_of_trec_covid(
    real: StudyResults, real_store: irmeta.Store
):
    found = real.tables["table_1"]
    assert set(found["track"]) == {"trec-covid-r1"}, "the others have no facts"
    for row in found.iter_rows(named=True):
        for side, kind in (("baseline", "automatic"), ("contender", "manual")):
            own = of_type(real_store, kind, "trec-covid-r1")
            means = real_store.means(row["measure"], track="trec-covid-r1")
            means = means.filter(pl.col("system").is_in(own))
            better = min if row["measure"].startswith("ASL") else max
            assert row[side] in own
            assert row[f"{side}_value"] == better(means["value"]), row


@pytest.mark.real
def test_search_length__effective_fraction_is_between_zero_and_one(real: StudyResults):
    found = real.tables["effective_fraction"]
    assert found["fraction"].is_between(0, 1).all()
    assert found["pooled"].is_between(0, 1).all()
    (row,) = real.tables["effective_summary"].to_dicts()
    by_track = found.group_by("track").agg(pl.col("fraction").mean())["fraction"].to_list()
    assert row["fraction"] == pytest.approx(track_means.mean(by_track), rel=1e-12)
    assert row["fraction_sd"] == pytest.approx(track_means.sd(by_track), rel=1e-12)
    assert row["tracks"] == 5


# Results that are opened again


def test_open__results_equal_the_original_run(made_store: irmeta.Store, tmp_path: Path):
    done = studied(made_store, tmp_path / "out", track="web", rel=2)
    again = irmeta.studies.open(tmp_path / "out")
    assert again.batch is None
    assert list(again.tables) == list(done.tables)
    assert list(again.figures) == list(done.figures)
    assert "web/figure_5" in again.figures
    assert (again.provenance["options"]["rel"], again.options.rel) == (2, 2)
    assert "tables: " in repr(again.tables)
    with pytest.raises(irmeta.UsageError, match=r"no figure 'figure1'\. Did you mean 'figure_1'"):
        _ = again.figures["figure1"]
    with pytest.raises(irmeta.UsageError, match="holds no study's results"):
        irmeta.studies.open(tmp_path)
