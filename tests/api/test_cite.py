"""Methods and references of results: what they state, and that every source has a reference."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest

import irmeta
from irmeta.api.cite import NAMES
from irmeta.errors import UsageError
from irmeta.preferences.registry import list_preferences
from irmeta.results.references import bibliography, dois, references_of, statistics
from irmeta.results.tidy_files import provenance, write_out
from irmeta.studies.framework.recorded_files import ALL, RecordedFiles
from irmeta.studies.framework.registry import find_all
from irmeta.studies.framework.study import Study

PACKAGE = Path(irmeta.__file__).parent
WITHOUT_STATISTICS = {"properties"}
"""Studies that compare all short rankings: they have no sample, test or correlation."""


@pytest.fixture(scope="module")
def results(made_store, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cited")
    irmeta.reanalyze(made_store.path, folder, track="news", measures="AP,nDCG@10", figures=False)
    return folder


def test_cite__paragraph_of_a_folder_of_results(results: Path, run):
    folder = results.parent / "compared"
    words = ("--baseline", "aldBM25", "--out", folder, "--quiet")
    assert run("compare", results, "-m", "AP", *words).status == 0
    cited = irmeta.cite(folder, date="1 May 2026")
    fingerprint = irmeta.studies.open(results).provenance["tracks"]["news"]["fingerprint"]
    for sentence in (
        f"Values were computed with irmeta {irmeta.__version__} [irmeta] on 1 May 2026.",
        "Measures: AP (revision 2) [lu2016, trec_eval]; nDCG@10 (revision 2) [jarvelin2002, ",
        f"Tracks: news (qrels set binary, fingerprint {fingerprint}).",
        "Policy of reading: lists at full depth; duplicates: error;",
        "whole pool; pool order: score-file; queries: judged.",
        "Systems were compared with aldBM25 by a paired t-test [student1908], Holm-corrected "
        "[holm1979], p \u2264 .05.",
    ):
        assert sentence in cited.text
    keys = re.findall(r"^@[a-z]+\{([^,]+),$", cited.bibtex, re.MULTILINE)
    assert keys == cited.references["key"].to_list()
    assert {
        key for keys in re.findall(r"\[([^\]]+)\]", cited.text) for key in keys.split(", ")
    } == {*keys}
    assert "  doi = {10.1145/582415.582418},\n" in cited.bibtex
    assert r"  title = {{trec\_eval}}," in cited.bibtex
    assert "1 May 2026" not in irmeta.cite(folder).text


def test_cite_command__json_of_another_command(made_store, tmp_path: Path, run):
    file = tmp_path / "power.json"
    words = ("--track", "news", "-m", "P@10", "--test", "permutation", "--out", file)
    assert run("power", made_store.path, *words).status == 0
    printed = run("cite", file).out
    test = "a paired permutation test [smucker2007, phipson2010], uncorrected"
    assert (
        f"Discriminative power [sakai2006] was counted by {test}, p \u2264 .05 and .01" in printed
    )
    assert "10,000 resamples, seed 0." in printed
    assert run("cite", file, "--bibtex").out == irmeta.cite(file).bibtex
    made = json.loads(run("cite", file, "--format", "json").out)
    assert made["facts"]["text"] == irmeta.cite(file).text
    table = tmp_path / "table.csv"
    table.write_text("system,AP\na,1\n")
    for wrong in (table, tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError):
            irmeta.cite(wrong) if wrong != tmp_path else irmeta.cite(made_store.path)


def sources() -> dict[str, str]:
    """Return the sources of all measures, preferences and studies, by name."""
    studies, _ = find_all()
    measures = dict(irmeta.list_measures().select("measure", "source").iter_rows())
    preferences = dict(list_preferences().select("preference", "source").iter_rows())
    return measures | preferences | {study.name: study.paper for study in studies if study.paper}


def test_bibliography__has_every_source_of_a_measure_preference_and_study():
    for name, source in sources().items():
        assert any(entry.title for entry in references_of("", source)), f"{name}: {source}"


def test_bibliography__has_every_doi_of_the_package_once():
    known = [entry.doi for entry in bibliography() if entry.doi]
    assert len(known) == len(set(known))
    keys = [entry.key for entry in bibliography()]
    assert len(keys) == len(set(keys))
    named = {
        doi
        for file in PACKAGE.rglob("*.py")
        for doi in dois(" ".join(re.findall(r"doi:\S+", file.read_text(encoding="utf-8"))))
    }
    assert {doi for doi in named if doi not in known} == set()


def test_statistics__have_every_test_and_correction_with_titled_references():
    assert set(statistics()) > set(NAMES)
    assert all(entry.title and entry.year for cited in statistics().values() for entry in cited)


@pytest.mark.parametrize("study", find_all()[0], ids=lambda study: study.name)
def test_studies__declare_known_statistics_of_their_tables(study: Study):
    assert bool(study.statistics) == (study.name not in WITHOUT_STATISTICS)
    declared = {name for tables in study.statistics for name in tables.split()}
    assert {name for name in declared if study.table(name).apart} == set()
    options = {option.name: option for option in fields(study.options)}
    for name in (name for names in study.statistics.values() for name in names):
        values = [name]
        if name.startswith("{"):
            option = options[name[1:-1]]
            choices = get_args(get_type_hints(study.options)[option.name])
            values = option.default if isinstance(option.default, tuple) else choices
        assert {part for value in values for part in value.split("+")} <= set(statistics())


def cited_record(folder: Path, record: Mapping[str, Any]) -> str:
    """Return what is said of results with a record."""
    file = folder / "record.json"
    file.write_text(json.dumps({"provenance": {"irmeta": "1.0", **record}}))
    return irmeta.cite(file).text.partition("[irmeta]. ")[2]


def test_cite__statistics_of_a_study_in_its_tables_with_rows(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = "Statistics of study overview, where its tables have values: "
    tau, sets = "Kendall's tau-b [kendall1945]", "simultaneous rank sets [mogstad2024]"
    cited = irmeta.cite(results)
    assert cited.text.endswith(f"{said}{tau}; {sets}.")
    assert "  title = {{The treatment of ties in ranking problems}}," in cited.bibtex
    assert irmeta.cite(results / "best.parquet").text.endswith(f"{said}{sets}.")
    assert said not in irmeta.cite(results / "skipped_runs.parquet").text
    empty = tmp_path / "agreement.parquet"
    frame = pl.read_parquet(results / "agreement.parquet")
    write_out(frame.clear(), empty, provenance(results / "agreement.parquet") or {}, force=True)
    assert said not in irmeta.cite(empty).text
    monkeypatch.setattr("irmeta.api.cite.find_all", lambda: ([], []))
    unknown = "Statistics of study overview are unknown: it is not installed in this revision."
    assert irmeta.cite(results).text.endswith(unknown)


def test_cite__options_of_a_study_and_of_its_claims(results: Path, tmp_path: Path):
    frame, record = pl.DataFrame({"tau": [1.0]}), {"irmeta": "1.0", "study": "search-length"}
    (study,) = (study for study in find_all()[0] if study.name == "search-length")
    record |= {"revision": study.revision, "options": {"test": "wilcoxon"}}
    write_out(frame, tmp_path / "reordering.parquet", record, force=True)
    claims = {"interval": "half", "interval_draws": 20, "independent_by": "year"}
    RecordedFiles(tmp_path, ALL).start(study="search-length", claims=claims)
    text = irmeta.cite(tmp_path).text
    assert "Wilcoxon signed-rank test [wilcoxon1945]; Kendall's tau-b [kendall1945]." in text
    assert (
        "Numbers of claims have intervals by halves of the queries [shao1989] and, over five "
        "tracks or more, random-effects means [paule1982, hartung2001, roever2015, higgins2009]. "
        "Shares of groups of tracks on which claims hold have exact intervals [clopper1934]."
    ) in text
    without = {"claims": {"interval": "none", "interval_draws": 20, "independent_by": None}}
    assert cited_record(tmp_path, without) == ""


def test_cite__statistics_of_over_tracks_and_of_simulated_judging(tmp_path: Path):
    record = {"alpha": 0.05, "nemenyi": False, "snapshots": False}
    text = (
        "Three systems or more were compared over tracks by Friedman's test [demsar2006, "
        "friedman1937], pairs by a Wilcoxon signed-rank test [wilcoxon1945], Holm-corrected "
        "[holm1979]"
    )
    assert cited_record(tmp_path, {"over_tracks": record}) == f"{text} (alpha: 0.05)."
    more = {"nemenyi": True, "snapshots": True}
    assert cited_record(tmp_path, {"over_tracks": record | more}).startswith(
        f"{text}, and by Nemenyi's test [demsar2006, nemenyi1963]; snapshots in succession by "
        "t-tests of partly overlapping samples [derrick2017] ("
    )
    judging = {"order": ["depth", "hedge"], "stops": 0.8, "draws": 30}
    assert cited_record(tmp_path, {"pool_budget": judging}) == (
        "Judging was simulated by order depth and order hedge [aslam2003]; orders of systems were "
        "compared by Kendall's tau-b [kendall1945], pairs of systems by a paired t-test "
        "[student1908], Holm-corrected [holm1979], with rules that end judging [cormack2016, "
        "ros2017] (stops: 0.8; draws: 30)."
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"segments_sha256": "0"}, "Classes of queries were compared by permutation tests of "
         "interaction [chung2013], Gail and Simon's test [gail1985] and permutation tests of the "
         "greatest t [westfall1993]."),
        ({"replicates_sha256": "0"}, "by Henderson's first method [searle1992, henderson1953]."),
        ({"replicates_sha256": "0", "components": "reml"}, "by restricted maximum likelihood "
         "[searle1992]."),
        ({"resample_by_sha256": "0"}, "compared by a paired t-test of clusters of queries "
         "[student1908, bell2002, pustejovsky2018], Holm-corrected [holm1979], p \u2264 .05."),
        ({"relative": True}, "Relative differences have Fieller's intervals [fieller1954]."),
        ({"variants_sha256": "0"}, "with variation over variants of queries [zuccon2016]."),
    ],
)  # fmt: skip
def test_cite__statistics_of_compare(more: dict[str, Any], said: str, tmp_path: Path):
    record = {"test": "t", "correction": "holm", "alpha": 0.05, **more}
    assert cited_record(tmp_path, {"compare": record}).endswith(said)


def test_references_of__unknown_doi_or_text_is_given_as_it_is():
    (doi,) = references_of("X", "Nobody 2030, doi:10.1234/x(3).5")
    assert doi.bibtex() == "@misc{10-1234-x-3-5,\n  doi = {10.1234/x(3).5},\n}\n"
    (text,) = references_of("My measure", "a report of 100 %")
    assert "@misc{My-measure,\n  title = {{My measure}},\n" in text.bibtex()
    assert r"  howpublished = {a report of 100 \%}," in text.bibtex()
