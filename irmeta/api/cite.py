"""`irmeta.cite`: a paragraph of methods and the references of results, from their provenance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import DataError, MeasureError, UsageError
from irmeta.locations import AnyLocation, local, not_a
from irmeta.measures.names import parse_measure
from irmeta.phrases import count, listed
from irmeta.preferences.registry import parse_preference
from irmeta.results.references import Reference, bibliography, irmeta_itself, references_of
from irmeta.results.tidy_files import provenance
from irmeta.stats.pairs import COMPLETE_TESTS, CORRECTION_NAMES, TEST_NAMES
from irmeta.studies.framework.registry import find
from irmeta.summaries import Line, Part, Result, Rows, Summary

STATISTICS: Mapping[str, tuple[str, ...]] = {
    "t": ("student1908",),
    "t-unpaired": ("student1908",),
    "wilcoxon": ("wilcoxon1945",),
    "sign": ("dixon1946",),
    "permutation": ("smucker2007", "phipson2010"),
    "bootstrap": ("efron1993", "smucker2007"),
    "hsd": ("tukey1949", "carterette2012"),
    "hsd-blocked": ("tukey1949", "carterette2012"),
    "hsd-randomised": ("carterette2012", "phipson2010"),
    "bootstrap-max-t": ("romano2005",),
    "max-t": ("dunnett1955", "westfall1993"),
    "holm": ("holm1979",),
    "bonferroni": ("dunn1961",),
    "benjamini-hochberg": ("benjamini1995",),
    "relative": ("fieller1954",),
    "rank_sets": ("mogstad2024",),
    "power": ("sakai2006",),
    "agree": ("cohen1960", "cohen1968", "gwet2008"),
    "reproduce": ("breuer2020",),
    "over_tracks": ("demsar2006", "friedman1937", "wilcoxon1945"),
    "segments": ("chung2013", "gail1985", "westfall1993"),
    "drawn": ("frobe2023",),
    "interval": ("student1908",),
    "weighted t": ("student1908", "bell2002", "pustejovsky2018"),
}
"""References of tests, corrections and other statistics, by their names in provenance."""
RANDOM_TESTS = ("permutation", "bootstrap", "hsd-randomised", "bootstrap-max-t", "max-t")
UNSET = {"depth": "lists at full depth", "pool_depth": "whole pool"}
"""What a policy says where a field is not set; nothing for other fields."""
COLUMNS = ("key", "doi", "kind", "author", "title", "venue", "year")


@dataclass(frozen=True, repr=False)
class Citation(Result):
    """How results were computed, in words, with the references.

    Attributes
    ----------
    text : str
        A paragraph: version, measures, studies, tracks with qrels sets and fingerprints, policies,
        and tests. Keys of references are in brackets.
    references : DataFrame
        key, doi, kind (of the BibTeX entry), author, title, venue, year; empty where irmeta does
        not know them for certain.
    bibtex : str
        The references in BibTeX.
    """

    text: str
    references: pl.DataFrame
    bibtex: str

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.bibtex}"

    def _summary(self) -> Summary:
        return Summary("", [count(self.references.height, "reference")])

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield Line(self.text)
        yield Rows(self.references.drop("kind"))

    def frame(self) -> pl.DataFrame:
        """Return `references`."""
        return self.references


def cite(results: AnyLocation, *, date: str = "") -> Citation:
    """Describe how results were computed, with references in BibTeX.

    Parameters
    ----------
    results : str or Path
        A folder of results (of `reanalyze`, a study, `compare` or `power`), with its sub-folders,
        or one file: Parquet, or the JSON of a command. CSV has no record of how it was made.
    date : str, optional
        When the results were computed, as the paragraph should say it. Results have no date.

    Returns
    -------
    Citation
        The attributes `text`, `references` and `bibtex`; `print` shows text and BibTeX.

    Raises
    ------
    UsageError
        If the folder or file has no record of irmeta.

    Examples
    --------
    >>> _ = irmeta.reanalyze("store/", "results/", track="news", measures="AP")
    >>> cited = irmeta.cite("results/", date="1 May 2026")
    >>> cited.text.partition(" Studies")[0].split(" on ")[1]
    '1 May 2026. Measures: AP (revision 2) [lu2016, trec_eval].'
    """
    place = local(results, "results on object storage are not read: name a local copy.")
    methods = _Methods()
    for record in _records(place):
        methods.read(record)
    if not methods.versions:
        raise UsageError(
            f"{results} has no record of how irmeta made it: name a folder of results, or a file "
            "of Parquet or JSON."
        )
    text = " ".join(methods.sentences(date))
    cited = list(methods.cited.values())
    references = pl.DataFrame([[getattr(entry, name) for name in COLUMNS] for entry in cited],
                              dict.fromkeys(COLUMNS, pl.String), orient="row")  # fmt: skip
    return Citation(text, references, "\n".join(entry.bibtex() for entry in cited))


def _records(place: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the provenance of a file, or of every Parquet file of a folder of results.

    Stores inside the folder, and hidden folders, are left out.
    """
    if place.is_dir():
        stores = {file.parent for file in place.rglob("manifest.json")}
        for file in sorted(place.rglob("*.parquet")):
            is_hidden = any(part.startswith(".") for part in file.relative_to(place).parts)
            if not is_hidden and stores.isdisjoint(file.parents):
                yield provenance(file) or {}
    elif not place.is_file():
        raise UsageError(f"{not_a('file or folder', place)}.")
    elif place.suffix == ".json":
        try:
            content = json.loads(place.read_bytes())
        except ValueError as error:
            raise DataError("is not JSON", file=str(place), fix=str(error)) from None
        yield content.get("provenance", {}) if isinstance(content, dict) else {}
    else:
        yield provenance(place) or {}


@dataclass
class _Methods:
    """What the records of results say about how they were computed."""

    versions: dict[str, None] = field(default_factory=dict[str, None])
    measures: dict[str, int] = field(default_factory=dict[str, int])
    preferences: dict[str, int] = field(default_factory=dict[str, int])
    studies: dict[str, int] = field(default_factory=dict[str, int])
    tracks: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    value_files: dict[str, str] = field(default_factory=dict[str, str])
    policies: dict[str, None] = field(default_factory=dict[str, None])
    statistics: dict[str, None] = field(default_factory=dict[str, None])
    cited: dict[str, Reference] = field(default_factory=dict[str, Reference])

    def read(self, record: Mapping[str, Any]) -> None:
        """Collect the facts of a record and of the records of its sources."""
        if "irmeta" in record:
            self.versions[record["irmeta"]] = None
        if "study" in record and "revision" in record:
            self.studies[record["study"]] = record["revision"]
        self.value_files |= record.get("value_files", {})
        for name, facts in _mappings(record.get("measures")):
            self.measures[name] = facts.get("revision", 0)
        for name, facts in _mappings(record.get("preferences")):
            self.preferences[name] = facts.get("revision", 0)
        for name, facts in _mappings(record.get("tracks")):
            self.tracks[name] = facts
        if isinstance(record.get("eval_policy"), Mapping):
            self.policies[_policy_text(record["eval_policy"])] = None
        if "query_weights_sha256" in record:
            digest = record["query_weights_sha256"]
            self.statistics[f"Queries have weights (file with SHA-256 {digest})."] = None
        for name in ("compare", "power", "prefer", "agree", "reproduce", "drawn", "interval",
                     "over_tracks"):  # fmt: skip
            if isinstance(record.get(name), Mapping):
                self.statistics[self._statistic(name, record[name])] = None
        for _, inside in _mappings(record):
            self.read(inside)

    def sentences(self, date: str) -> Iterator[str]:
        """Yield the sentences of the paragraph."""
        program = irmeta_itself(listed([*self.versions]))
        statistics = [*self.statistics]
        on_date = f" on {date}" if date else ""
        version = listed([*self.versions])
        computed = "Values were" if self.tracks or not self.value_files else "Results were"
        yield f"{computed} computed with irmeta {version} {self._keys([program])}{on_date}."
        if self.value_files:
            files = (f"{name} (checksum {text})" for name, text in self.value_files.items())
            yield f"Values by system and query were read from files: {'; '.join(files)}."
        yield from self._revisions("Measures", self.measures)
        yield from self._revisions("Preferences", self.preferences)
        yield from self._revisions("Studies", self.studies)
        if self.tracks:
            tracks = list[str]()
            for name, facts in sorted(self.tracks.items()):
                qrels = f"qrels set {facts['qrels']}, " if facts.get("qrels") else ""
                tracks.append(f"{name} ({qrels}fingerprint {facts.get('fingerprint', 'unknown')})")
            yield f"Tracks: {'; '.join(tracks)}."
            reading = dict.fromkeys(_policy_text(f["read_policy"]) for f in self.tracks.values()
                                    if isinstance(f.get("read_policy"), Mapping))  # fmt: skip
            yield from (f"Policy of reading: {policy}." for policy in reading)
        yield from (f"Policy of evaluation: {policy}." for policy in self.policies)
        yield from statistics

    def _revisions(self, kind: str, revisions: Mapping[str, int]) -> Iterator[str]:
        """Yield a sentence on measures, preferences or studies with revisions and references."""
        texts = []
        for name, revision in revisions.items():
            described = _source(kind, name)
            keys = f" {self._keys(references_of(name, described))}" if described else ""
            texts.append(f"{name} (revision {revision}){keys}")
        if texts:
            yield f"{kind}: {'; '.join(texts)}."

    def _statistic(self, name: str, settings: Mapping[str, Any]) -> str:
        """Return a sentence on a test or another statistic with its references."""
        if name in ("agree", "reproduce", "drawn", "interval", "over_tracks"):
            what = {
                "agree": "Agreement of judges: percentages, kappa, alpha and AC2",
                "reproduce": "Reruns were compared with the original experiment",
                "drawn": "Grades of unjudged docs were drawn",
                "over_tracks": "Systems were compared over tracks",
                "interval": "Means have confidence intervals over queries",
            }[name]
            chosen = {n: v for n, v in settings.items() if not isinstance(v, Mapping)}
            key = "bootstrap" if settings.get("interval") == "bootstrap" else name
            return f"{what} {self._cited(key)} ({_policy_text(chosen)})."
        tests = settings.get("tests") or [settings["test"]]
        weighted = "weighted " if "query_weights_sha256" in settings else ""
        words = [
            f"{weighted}{TEST_NAMES[test]} {self._cited(f'{weighted}t' if test == 't' else test)}"
            for test in tests
        ]
        named = listed([f"{'an' if text[0] in 'aeiou' else 'a'} {text}" for text in words])
        correction, levels = settings["correction"], settings["alpha"]
        if correction != "none":
            named += f", {CORRECTION_NAMES[correction]} {self._cited(correction)}"
        elif not set(tests) <= set(COMPLETE_TESTS):
            named += ", uncorrected"
        levels = levels if isinstance(levels, Sequence) else [levels]
        named += f", p \u2264 {listed([f'{level:g}'.removeprefix('0') for level in levels])}"
        if set(tests) & set(RANDOM_TESTS):
            named += f", {settings['resamples']:,} resamples, seed {settings['seed']}"
        if name == "power":
            return f"Discriminative power {self._cited(name)} was counted by {named}."
        baseline = settings.get("baseline")
        baselines = [baseline] if isinstance(baseline, str) else baseline or []
        pairs = f"Systems were compared with {listed(baselines)}" if baselines else (
            "All pairs of systems were compared")  # fmt: skip
        sentence = f"{pairs} by {named}."
        if settings.get("relative"):
            sentence += f" Relative differences have Fieller's intervals {self._cited('relative')}."
        if settings.get("segments_sha256") and not weighted:  # these tests have no weighted form
            sentence += f" Classes of queries were compared, too {self._cited('segments')}."
        if settings.get("rank_sets") or name == "prefer":
            sentence += f" Ranks have simultaneous confidence sets {self._cited('rank_sets')}."
        return sentence

    def _cited(self, statistic: str) -> str:
        by_key = {entry.key: entry for entry in bibliography()}
        return self._keys([by_key[key] for key in STATISTICS[statistic]])

    def _keys(self, entries: Iterable[Reference]) -> str:
        """Return the keys of entries in brackets, and remember the entries."""
        entries = list(entries)
        self.cited |= {entry.key: entry for entry in entries}
        return f"[{', '.join(entry.key for entry in entries)}]"


def _mappings(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the items of a mapping whose values are mappings."""
    if isinstance(value, Mapping):
        yield from ((name, item) for name, item in value.items() if isinstance(item, Mapping))


def _policy_text(policy: Mapping[str, Any]) -> str:
    """Return the fields of a policy: ``queries: judged; whole pool``; absent ones by `UNSET`."""
    texts = []
    for name, value in policy.items():
        if value in (None, [], {}, False):
            texts.append(UNSET.get(name, ""))
        else:
            shown = listed([str(item) for item in value]) if isinstance(value, list) else value
            texts.append(f"{name.replace('_', ' ')}: {shown}")
    return "; ".join(filter(None, texts))


def _source(kind: str, name: str) -> str:
    """Return the source of a measure or preference, or a study's paper; empty for an unknown one.

    Results may name measures and studies of packages that are not installed.
    """
    try:
        if kind == "Measures":
            return parse_measure(name).measure.source
        return parse_preference(name).rule.source if kind == "Preferences" else find(name).paper
    except (MeasureError, UsageError):
        return ""
