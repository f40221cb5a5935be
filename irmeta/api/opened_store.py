"""`OpenedStore`: the data of a store, and the policies by which it was opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from irmeta.api.trec_files import write_collection
from irmeta.errors import UsageError, check_choice, did_you_mean
from irmeta.locations import AnyLocation, Location, local, location
from irmeta.phrases import count
from irmeta.policies import EvalPolicy, ReadPolicy, TieOrder, rel_by_set
from irmeta.rankings.track import Track, each
from irmeta.store.layout import Layout, store_folder
from irmeta.store.run_notes import notes_on_runs
from irmeta.store.scan import StoreReader, Tracks, lazy, only_track, track_notes, tracks_of
from irmeta.studies.framework.recorded_files import recorded_policy
from irmeta.summaries import Part, Rows, Summarized, Summary

MOST_TRACKS = 10
"""Most tracks whose sizes are shown with a store, since reading them takes time."""


class OpenedStore(Summarized):
    """Data of an open store, and the policies of the results by which it was opened.

    `Store` is one, with methods that compute. The namespaces of `Store`, and the functions that
    take one, need no more than this, so they do not import `Store`.
    """

    def __init__(self, path: AnyLocation | StoreReader) -> None:
        self.results: Location | None = None
        if isinstance(path, AnyLocation):
            folder = store_folder(path)
            self.reader: StoreReader = Layout(folder)
            self.results = location(path) if folder != location(path) else None
        else:
            self.reader = path
        self.policy: ReadPolicy = self.reader.read_policy()
        self.eval_policy: EvalPolicy = (
            EvalPolicy() if self.results is None else recorded_policy(self.results)
        )

    def merged(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields of `EvalPolicy`, over those of the results by which the store was opened.

        Examples
        --------
        >>> store.merged({"queries": "relevant"})  # a store that no results hold
        {'queries': 'relevant'}
        """
        both = self.eval_policy.changed() | dict(choices)
        if both.get("rel") is not None:
            self._check_rel(EvalPolicy(rel=both["rel"]))
        return both

    def policy_with(self, choices: Mapping[str, Any]) -> EvalPolicy:
        """Return the policy of these fields, over those by which the store was opened."""
        return EvalPolicy(**self.merged(choices))

    def each(self, track: Tracks = None, policy: EvalPolicy | None = None) -> Iterator[Track]:
        """Yield the requested tracks, sorted, each with its record read once."""
        return each(self.reader, track, policy)

    def track(self, name: str | None, policy: EvalPolicy | None = None) -> Track:
        """Return a track; None stands for the only track of the store."""
        return next(each(self.reader, only_track(self.reader, name).name, policy))

    def _check_rel(self, policy: EvalPolicy) -> None:
        """Refuse least relevant grades of qrels sets that no track has."""
        if named := {name for name in rel_by_set(policy.rel) if name is not None}:
            known = sorted({qrels for track in self.each() for qrels in track.set_names})
            for name in sorted(named.difference(known)):
                raise UsageError(f"rel: no qrels set {name!r}. {did_you_mean(name, known)}")

    def _summary(self) -> Summary:
        tracks = self.tracks
        facts = [count(len(tracks), "track")]
        if len(tracks) <= MOST_TRACKS:  # the sizes of many tracks would take time to read
            sizes = self.info(tracks)
            facts += [count(int(sizes["systems"].sum()), "system")]
            facts += [count(int(sizes["queries"].sum()), "query")]
        facts += self._recorded_policies()
        return Summary(repr(str(self.reader)), facts)

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        left_out = pl.DataFrame({"track": self.tracks[MOST_TRACKS:]}, schema={"track": pl.String})
        yield Rows(pl.concat([self.info(self.tracks[:MOST_TRACKS]), left_out], how="diagonal"))

    def _recorded_policies(self) -> list[str]:
        """Return the policies of the results by which the store was opened, or that hold it."""
        if changed := self.eval_policy.changed():
            return [f"evaluated as the results in {self.results}: {_keywords(changed)}"]
        root = self.reader.root if isinstance(self.reader, Layout) else None
        if self.results is not None or not isinstance(root, Path):
            return []
        if store_folder(root.parent) != root:
            return []
        changed = recorded_policy(root.parent).changed()
        problem = f"the results in {root.parent} have other policies: {_keywords(changed)}"
        return [problem] if changed else []

    @property
    def path(self) -> Path:
        """Folder of the store.

        Raises
        ------
        UsageError
            If the store is in memory or on object storage.

        Examples
        --------
        >>> store.path.joinpath("manifest.json").exists()
        True
        """
        if not isinstance(self.reader, Layout):
            raise UsageError(f"{self.reader} was read into memory: irmeta.ingest makes a folder.")
        return local(self.reader.root, "a store on object storage has no path.")

    @property
    def tracks(self) -> list[str]:
        """Names of the complete tracks, sorted.

        Examples
        --------
        >>> store.tracks
        ['news', 'passage', 'web']
        """
        return self.reader.tracks()

    @property
    def fingerprint(self) -> str:
        """Hash of the input of the store and of the options that it was read with.

        Examples
        --------
        >>> store.fingerprint == irmeta.open_store(store.path).fingerprint
        True
        """
        return self.reader.fingerprint()

    def runs(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the long table of all runs.

        Returns
        -------
        LazyFrame
            track, query, system, rank (from 1), doc, grade (null: not in the qrels), score,
            position (line in the run file), rank_given, doc_id.

        Examples
        --------
        >>> store.runs("news").filter(rank=1).collect().height
        497
        """
        return lazy(self.reader, "runs", track)

    def qrels(
        self, track: Tracks = None, *, sets: Literal["primary", "all"] = "primary"
    ) -> pl.LazyFrame:
        """Return judgments: track, set, query, subtopic (null: ad hoc), doc, grade, doc_id.

        Parameters
        ----------
        track : str or iterable of str, optional
            Only these tracks.
        sets : {'primary', 'all'}, default 'primary'
            The primary qrels set of each track, or all sets. A doc may be in several sets.

        Examples
        --------
        >>> store.qrels("web").collect()["set"].unique(maintain_order=True).to_list()
        ['adhoc']
        >>> store.qrels("web", sets="all").collect()["set"].unique(maintain_order=True).to_list()
        ['adhoc', 'diversity']
        """
        check_choice("sets", sets, ("primary", "all"))
        rows = lazy(self.reader, "qrels", track)
        if sets == "all":
            return rows
        primary = {opened.name: opened.set_names[0] for opened in self.each(track)}
        if not primary:
            return rows
        return rows.filter(pl.col("set") == pl.col("track").replace_strict(primary))

    def docs(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the docs of each query by number: track, query, doc_id, doc.

        Examples
        --------
        >>> store.docs("web").collect().height
        7010
        """
        return lazy(self.reader, "docs", track)

    def subtopics(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the described subtopics: track, set, query, subtopic, weight, type.

        Examples
        --------
        >>> store.subtopics("web").collect().height  # no file describes them
        0
        """
        return lazy(self.reader, "subtopics", track)

    def queries(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the facts of ``queries.csv``: track, query, column, value; columns are segments.

        Examples
        --------
        >>> store.queries("news").collect().height  # it has no such file
        0
        """
        return lazy(self.reader, "queries", track)

    def factors(self, track: Tracks = None) -> pl.LazyFrame:
        """Return the columns of ``systems.csv`` and ``judges.csv`` beside runs.

        Returns
        -------
        LazyFrame
            track, kind (system or judge), name, column, value; of systems also from ir_metadata of
            their runs. Groups and types are in `systems`.

        Examples
        --------
        >>> store.factors("news").collect().height  # it has no such file
        0
        """
        return lazy(self.reader, "factors", track)

    def samples(self, track: Tracks = None) -> pl.LazyFrame:
        """Return how judged docs were sampled, for qrels of the formats prels and sample-eval.

        Returns
        -------
        LazyFrame
            track, set, query, doc, doc_id, stratum (of sample-eval), method and probability (of
            prels; null: NA).

        Examples
        --------
        >>> store.samples("web").collect().height  # its qrels are no sample
        0
        """
        return lazy(self.reader, "samples", track)

    def systems(self, track: Tracks = None) -> pl.DataFrame:
        """Return the facts of each run file and the reason why it was skipped.

        Returns
        -------
        DataFrame
            One row per run file: track, system, group, type, pooled, tag, file, sha256, rows, ...,
            notes, skip_reason (null: not skipped).

        Examples
        --------
        >>> store.systems("news").select("system", "group").row(0)
        ('aldBM25', 'alder')
        """
        frames = [opened.systems_table for opened in self.each(track)]
        return pl.concat(frames, how="diagonal")  # tracks of an older irmeta have no tags

    def warnings(self, track: str) -> dict[str, str]:
        """Return the warnings of reading a track by kind.

        The kinds are ``names``, ``qrels``, ``qrels_sets`` (sets that cannot be read),
        ``rows`` (lines that begin with #, rows without a grade), ``pool_depth`` and
        ``self_retrieval``.

        Examples
        --------
        >>> store.warnings("news")
        {}
        """
        return dict(self.reader.track(track).record.get("warnings", {}))

    def run_notes(
        self,
        track: Tracks = None,
        *,
        tie_order: TieOrder | None = None,
        system: str | Iterable[str] | None = None,
    ) -> list[str]:
        """Return notes on runs and grades that values do not show, one for each kind.

        Notes are on judged queries without a list, lists for unjudged queries, systems that
        retrieve no judged doc or have the ranks of another, rank columns that contradict the
        scores, scores that are equal only as float32, systems that divide the queries, and decimal
        grades below 0.

        Parameters
        ----------
        track : str or iterable of str, optional
            Only these tracks.
        tie_order : str, optional
            The tie order of the lists; default that of the store.
        system : str or iterable of str, optional
            Only these systems: names, ``group=NAME`` or ``type=NAME``.

        Raises
        ------
        UsageError
            If a track or system is unknown.

        Examples
        --------
        >>> store.run_notes("news")[0].partition(":")[0]
        '2 of 20 systems have no list for some judged queries'
        """
        order = tie_order or self.eval_policy.tie_order or self.policy.tie_order
        tracks = list(self.each(track, EvalPolicy.of({"system": system})))
        negative = [
            f"The decimal grades of the qrels set {qrels_set['name']!r} begin at "
            f"{qrels_set['lowest']:g}: docs of grades below 0 are unjudged, and have no gain. "
            "`negative='nonrelevant'` takes them for judged."
            for opened in tracks
            for qrels_set in opened.stored.record["qrels"]
            if "levels" in qrels_set and qrels_set["lowest"] < 0
        ]
        tables = [
            opened.systems_table.filter(pl.col("system").is_in(opened.facts.systems))
            if system
            else opened.systems_table
            for opened in tracks
        ]
        systems = pl.concat(tables, how="diagonal")
        return [*notes_on_runs(systems, order), *negative]

    @property
    def failures(self) -> dict[str, str]:
        """Errors by track, for tracks that the last ingest could not read.

        Examples
        --------
        >>> store.failures
        {}
        """
        return self.reader.failures()

    def info(self, track: Tracks = None) -> pl.DataFrame:
        """Summarise each track.

        Returns
        -------
        DataFrame
            One row per track: track, systems, skipped_runs, rows, queries, judgments,
            highest_grade, deepest_rank, qrels, tie_order, pool_depth, named_by, notes.

        Examples
        --------
        >>> store.info().select("track", "systems", "queries").row(0)
        ('news', 20, 25)
        """
        tracks = self.tracks if track is None else track
        rows = []
        for opened in self.each(tracks) if tracks else ():
            record = opened.stored.record
            primary = record["qrels"][0]
            rows.append(
                {
                    "track": record["track"],
                    "systems": len(record["systems"]),
                    "skipped_runs": record["skipped_runs"],
                    "rows": record["rows"],
                    "queries": primary["queries"],
                    "judgments": primary["judgments"],
                    "highest_grade": primary["highest"],
                    "deepest_rank": record["deepest_rank"],
                    "qrels": ", ".join(q["name"] for q in record["qrels"]),
                    "tie_order": record["config"]["policy"]["tie_order"],
                    "pool_depth": record["config"].get("pool_depth"),
                    "named_by": record.get("named_by", "tag"),
                    "notes": track_notes(record),
                }
            )
        types = {"pool_depth": pl.Int64, "notes": pl.String}
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)

    def qrels_sets(self, track: Tracks = None) -> pl.DataFrame:
        """Summarise each qrels set of each track.

        Returns
        -------
        DataFrame
            One row per set, the primary set of a track first: track, set, queries, judgments,
            subtopics (0: none), lowest_grade, highest_grade, rel (least relevant grade that the
            collection states for the set).

        Examples
        --------
        >>> store.qrels_sets("web").select("set", "judgments", "highest_grade").rows()
        [('adhoc', 1793, 4), ('diversity', 5365, 3)]
        """
        rows = []
        for opened in self.each(self.tracks if track is None else track):
            for qrels_set in opened.stored.record["qrels"]:
                facts = opened.facts_of(qrels_set["name"])
                numbers = {key: qrels_set[key] for key in ("queries", "judgments", "subtopics")}
                ends = {
                    "lowest_grade": qrels_set.get("lowest"),
                    "highest_grade": qrels_set["highest"],
                }
                row = {"track": facts.track, "set": facts.qrels, **numbers, **ends}
                rows.append({**row, "rel": facts.rel})
        grades = ["lowest_grade", "highest_grade", "rel"]
        types: dict[str, Any] = dict.fromkeys(grades, pl.Float64)
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
        is_whole = [name for name in grades if (frame[name] == frame[name].floor()).all()]
        return frame.with_columns(pl.col(is_whole).cast(pl.Int64))

    def to_trec(self, folder: str | Path, track: Tracks = None) -> Path:
        """Write runs and qrels as files in TREC form, a collection that `irmeta.read` reads.

        Parameters
        ----------
        folder : str or Path
            A new or empty folder. Each track has ``TRACK/runs/SYSTEM`` and
            ``TRACK/qrels.SET.txt``; facts about systems, subtopics and pools are in further files,
            and ``collection.toml`` names all of them and the tie order.
        track : str or iterable of str, optional
            Only these tracks.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        UsageError
            If the folder has files, or a track is unknown.
        DataError
            If the name of a query, doc or system contains white space.

        Notes
        -----
        Lines are in the order of the file that was read, without dropped duplicates, malformed
        lines and docs below the depth of reading; the rank column is as read, or the store's rank
        where none was read. Scores have all digits. Skipped runs are not written.

        Examples
        --------
        >>> written = store.to_trec("written", track="news")
        >>> irmeta.read(written).means("AP").equals(store.means("AP", track="news"))
        True
        """
        target = local(folder)
        write_collection(self.reader, tracks_of(self.reader, track), target)
        return target


def _keywords(choices: Mapping[str, Any]) -> str:
    singles = {
        name: value[0] if isinstance(value, tuple) and len(value) == 1 else value
        for name, value in choices.items()
    }
    return ", ".join(f"{name}={value!r}" for name, value in singles.items())
