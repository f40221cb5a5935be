"""Methods and references of results: what they state, and that every source has a reference."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import irmeta
from irmeta.api.cite import (
    CORRECTION_NAMES,
    STATISTICS,
    TEST_NAMES,
)
from irmeta.errors import UsageError
from irmeta.preferences.registry import list_preferences
from irmeta.results.references import bibliography, dois, references_of
from irmeta.studies.framework.registry import find_all

PACKAGE = Path(irmeta.__file__).parent


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


def test_statistics__have_every_test_and_correction_and_known_references():
    assert set(STATISTICS) > {*TEST_NAMES, *CORRECTION_NAMES}
    keys = {entry.key for entry in bibliography()}
    assert {key for cited in STATISTICS.values() for key in cited} <= keys


def test_references_of__unknown_doi_or_text_is_given_as_it_is():
    (doi,) = references_of("X", "Nobody 2030, doi:10.1234/x(3).5")
    assert doi.bibtex() == "@misc{10-1234-x-3-5,\n  doi = {10.1234/x(3).5},\n}\n"
    (text,) = references_of("My measure", "a report of 100 %")
    assert "@misc{My-measure,\n  title = {{My measure}},\n" in text.bibtex()
    assert r"  howpublished = {a report of 100 \%}," in text.bibtex()
