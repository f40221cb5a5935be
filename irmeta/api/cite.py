"""`irmeta.cite`: a paragraph of methods and the references of results, from their provenance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import DataError, MeasureError, UsageError
from irmeta.locations import AnyLocation, local, not_a
from irmeta.measures.names import parse_measure
from irmeta.phrases import count, listed
from irmeta.preferences.registry import parse_preference
from irmeta.results.references import Reference, irmeta_itself, references_of, statistics
from irmeta.results.tidy_files import provenance
from irmeta.stats.pairs import COMPLETE_TESTS, CORRECTION_NAMES, TEST_NAMES
from irmeta.studies.framework.recorded_files import ALL, PARTS, RecordedFiles
from irmeta.studies.framework.registry import find, find_all
from irmeta.summaries import Line, Part, Result, Rows, Summary

NAMES = TEST_NAMES | CORRECTION_NAMES | {
    "tau-b": "Kendall's tau-b", "tau-ap": "tau_AP", "tau-ap-b": "tau_AP,b", "tau-gap": "tau-GAP",
    "rbo": "RBO", "half": "halves of the queries", "jackknife": "a jackknife over the queries",
}  # fmt: skip
"""Words for statistics that the bibliography names as options do."""
METHODS = {
    "agree": "Agreement of judges: percentages, {kappa, alpha and AC2}",
    "reproduce": "Reruns were compared with the originals by {measures of reproducibility}",
    "drawn": "Unjudged docs have {drawn grades}",
    "interval": "Means have {intervals} over queries",
    "over_tracks": "Three systems or more were compared over tracks by {Friedman's test}, pairs by "
    "a {wilcoxon+holm}",
    "pool_budget": "Judging was simulated by {orders}; orders of systems were compared by {tau-b}, "
    "pairs of systems by a {t+holm}",
}
"""Sentences on records, with statistics in braces by their names in the bibliography."""
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
        tests and other statistics. Keys of references are in brackets.
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
    for file, record in _records(place):
        methods.read(record)
        methods.read_table(file, record)
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


def _records(place: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield a file and its provenance, or every Parquet file of a folder of results.

    Stores inside the folder, and hidden folders, are left out, but for the options of claims.
    """
    if place.is_dir():
        stores = {file.parent for file in place.rglob("manifest.json")}
        for file in sorted(place.rglob("*.parquet")):
            is_hidden = any(part.startswith(".") for part in file.relative_to(place).parts)
            if not is_hidden and stores.isdisjoint(file.parents):
                yield file, provenance(file) or {}
        for mark in sorted(place.rglob(f"{PARTS}/{ALL}/files.json")):
            yield mark, {"claims": RecordedFiles(mark.parents[2], ALL).facts.get("claims")}
    elif not place.is_file():
        raise UsageError(f"{not_a('file or folder', place)}.")
    elif place.suffix == ".json":
        try:
            content = json.loads(place.read_bytes())
        except ValueError as error:
            raise DataError("is not JSON", file=str(place), fix=str(error)) from None
        yield place, content.get("provenance", {}) if isinstance(content, dict) else {}
    else:
        yield place, provenance(place) or {}


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
    of_studies: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
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
        for name in ("compare", "power", "prefer", "claims", *METHODS):
            if isinstance(record.get(name), Mapping):
                of = self._claims if name == "claims" else partial(self._statistic, name)
                self.statistics[of(record[name])] = None
        for _, inside in _mappings(record):
            self.read(inside)

    def read_table(self, file: Path, record: Mapping[str, Any]) -> None:
        """Collect the statistics in a table of a study, if that has rows."""
        if file.suffix != ".parquet" or not {"study", "revision"} <= record.keys():
            return
        name = record["study"]
        study = next((study for study in find_all()[0] if study.name == name), None)
        if study is None or study.revision != record["revision"]:
            text = f"Statistics of study {name} are unknown: it is not installed in this revision."
            self.statistics[text] = None
        elif pl.scan_parquet(file).select(pl.len()).collect().item():
            for tables, declared in study.statistics.items():
                for text in declared if file.stem in tables.split() else ():
                    chosen = record["options"][text[1:-1]] if text.startswith("{") else text
                    chosen = [chosen] if isinstance(chosen, str) else chosen
                    self.of_studies.setdefault(name, {}).update(dict.fromkeys(chosen))

    def sentences(self, date: str) -> Iterator[str]:
        """Yield the sentences of the paragraph."""
        program = irmeta_itself(listed([*self.versions]))
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
        yield from filter(None, self.statistics)
        for study, used in self.of_studies.items():
            words = "; ".join(map(self._named, used))
            yield f"Statistics of study {study}, where its tables have values: {words}."

    def _revisions(self, kind: str, revisions: Mapping[str, int]) -> Iterator[str]:
        """Yield a sentence on measures, preferences or studies with revisions and references."""
        texts = []
        for name, revision in revisions.items():
            described = _source(kind, name)
            keys = f" {self._keys(references_of(name, described))}" if described else ""
            texts.append(f"{name} (revision {revision}){keys}")
        if texts:
            yield f"{kind}: {'; '.join(texts)}."

    def _claims(self, settings: Mapping[str, Any]) -> str:
        """Return sentences on the intervals of the claims of a study; empty without any."""
        text = ""
        if (interval := settings["interval"]) != "none":
            text = f"Numbers of claims have intervals by {{{interval}}} and, over five tracks or "
            text += "more, {random-effects means}. "
        if settings["independent_by"] is not None:
            text += "Shares of groups of tracks on which claims hold have {exact intervals}."
        return self._filled(text.strip())

    def _statistic(self, name: str, settings: Mapping[str, Any]) -> str:
        """Return a sentence on a test or another statistic with its references."""
        if name in METHODS:
            kind = "bootstrap" if settings.get("interval") == "bootstrap" else "Student's"
            orders = [f"{{order {order}}}" for order in settings.get("order") or ["unknown"]]
            text = METHODS[name].replace("{intervals}", f"{{{kind} intervals}}")
            text = text.replace("{orders}", listed(orders))
            text += ", and by {Nemenyi's test}" if settings.get("nemenyi") else ""
            if settings.get("snapshots"):
                text += "; snapshots in succession by {t-tests of partly overlapping samples}"
            text += ", with {rules that end judging}" if settings.get("stops") is not None else ""
            chosen = {n: v for n, v in settings.items() if n not in ("notes", "order")
                      and not isinstance(v, Mapping)}  # fmt: skip
            return f"{self._filled(text)} ({_policy_text(chosen)})."
        tests = settings.get("tests") or [settings["test"]]
        weighted = "weighted " if "query_weights_sha256" in settings else ""
        unit = " of clusters of queries" if "resample_by_sha256" in settings else ""
        of_t = "weighted t" if weighted or unit else "t"
        words = [
            f"{weighted}{TEST_NAMES[test]}{unit} {self._cited(of_t if test == 't' else test)}"
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
            keys = self._cited("discriminative power")
            return f"Discriminative power {keys} was counted by {named}."
        baseline = settings.get("baseline")
        baselines = [baseline] if isinstance(baseline, str) else baseline or []
        pairs = f"Systems were compared with {listed(baselines)}" if baselines else (
            "All pairs of systems were compared")  # fmt: skip
        more = ""
        if settings.get("relative"):
            more += " Relative differences have {Fieller's intervals}."
        if settings.get("segments_sha256") and not weighted:  # these tests have no weighted form
            more += " Classes of queries were compared by {permutation tests of interaction}, "
            more += "{Gail and Simon's test} and {permutation tests of the greatest t}."
        if settings.get("replicates_sha256"):
            is_reml = settings.get("components") == "reml"
            kind = "restricted maximum likelihood" if is_reml else "Henderson's first method"
            more += f" Runs of a method were averaged; their variances are by {{{kind}}}."
        if settings.get("variants_sha256"):
            more += " Variants of a query were averaged, with {variation over variants of queries}."
        if settings.get("rank_sets") or name == "prefer":
            more += " Ranks have {simultaneous rank sets}."
        return f"{pairs} by {named}.{self._filled(more)}"

    def _filled(self, text: str) -> str:
        """Return a text with statistics in braces in words, with their references."""
        return re.sub(r"\{(.+?)\}", lambda match: self._named(match[1]), text)

    def _cited(self, statistic: str) -> str:
        return self._keys(statistics()[statistic])

    def _named(self, statistic: str) -> str:
        """Return a statistic in words with its references: ``t+holm`` is a corrected test."""
        known = statistics()
        return ", ".join(
            f"{NAMES.get(name, name)} {self._cited(name)}" if name in known else name
            for name in statistic.split("+")
        )

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
