"""`irmeta.catalog`: the facts of selected tracks as frames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from irmeta.archive import facts
from irmeta.archive.choices import choices
from irmeta.parallel import check_not_forked
from irmeta.phrases import count
from irmeta.summaries import Summarized, Summary

_TEXT, _TEXTS = pl.String(), pl.List(pl.String)
_SETS: dict[str, pl.DataType] = {
    "id": _TEXT,
    "track": _TEXT,
    "run_tasks": _TEXTS,
    "set": _TEXT,
    "format": _TEXT,
    "members": _TEXTS,
    "queries": _TEXT,
    "address": _TEXT,
    "note": _TEXT,
}
_LEFT_OUT: dict[str, pl.DataType] = {"id": _TEXT, "task": _TEXT, "reason": _TEXT}


@dataclass(frozen=True, repr=False)
class Catalog(Summarized):
    """Facts about some of TREC's tracks.

    The values of `type` are those that participants gave; a run without one is null. Names of
    published systems are as NIST prints them, which are not always the names of runs.

    Attributes
    ----------
    ids
        Ids of the tracks, such as ``trec8/adhoc``, in the order of years.

    Examples
    --------
    >>> irmeta.catalog("trec13/robust")
    Catalog(1 track, 110 runs, 1 file of qrels, 550 published scores)
    """

    ids: tuple[str, ...]

    @property
    def tracks(self) -> pl.DataFrame:
        """Tracks with their counts and state.

        Columns: id, edition, year, track (the title), tasks (a list), runs, addresses (runs that
        have one), groups, qrels (addresses), published (scores), evaluators (a list), state, reason
        (of a state other than ``ready``).
        """
        return self._of(facts.tracks())

    @property
    def runs(self) -> pl.DataFrame:
        """Runs: id, edition, year, track, task, run, group, type, address and md5 where known.

        `task` is empty where a track has one task. A name may occur in two tasks of a track.
        """
        return self._of(facts.runs())

    @property
    def qrels(self) -> pl.DataFrame:
        """Qrels as NIST lists them: id, name, address. Some addresses are pages, not files."""
        return self._of(facts.qrels())

    @property
    def sets(self) -> pl.DataFrame:
        """Qrels sets that irmeta uses, the primary set of a track first.

        Columns: id, track (name in a collection), run_tasks (a list), set, format, members
        (patterns of files in an archive; a list), queries (the range of those that count, null for
        all), address, note. Tracks that are not ``ready`` have none.
        """
        rows = [
            (
                key,
                task.folder,
                task.run_tasks,
                one.name,
                one.format,
                one.members,
                "-".join(map(str, one.queries)) if one.queries else None,
                address,
                task.note,
            )
            for key in self.ids
            for task in choices(key).tasks
            for one in task.sets
            for address in one.addresses
        ]
        return pl.DataFrame(rows, schema=_SETS, orient="row")

    @property
    def left_out(self) -> pl.DataFrame:
        """Runs of ``ready`` tracks that are not evaluated: id, task, runs, reason."""
        rows = [(key, *one) for key in self.ids for one in choices(key).left_out]
        counted = self.runs.group_by("id", "task").agg(pl.len().alias("runs"))
        joined = pl.DataFrame(rows, schema=_LEFT_OUT, orient="row").join(
            counted, on=["id", "task"], how="left", maintain_order="left"
        )
        return joined.select("id", "task", "runs", "reason")

    @property
    def published(self) -> pl.DataFrame:
        """Published means: id, run, evaluator, measure, occurrence, value (text as printed).

        `occurrence` counts from 0 where a run has several values of a measure.
        """
        return self._of(facts.published())

    def _of(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("id").is_in(self.ids))

    def _summary(self) -> Summary:
        tracks = self.tracks
        runs, files, scores = tracks.select(pl.col("runs", "qrels", "published").sum()).row(0)
        shown = tracks.select(
            "id", "year", "track", "runs", "groups", "qrels", "published", "state"
        )
        counts = [
            count(tracks.height, "track"),
            count(runs, "run"),
            count(files, "file of qrels", "files of qrels"),
            count(scores, "published score"),
        ]
        return Summary("", counts, lambda: shown)


def catalog(
    tracks: str | Sequence[str] = (),
    *,
    year: str | int | None = None,
    track: str | None = None,
    task: str | None = None,
    has: str | Collection[str] = (),
    state: str | None = None,
) -> Catalog:
    """Look up TREC's tracks: their runs, groups, qrels and published scores.

    Nothing is downloaded: the facts are part of the package.

    Parameters
    ----------
    tracks : str or sequence of str, optional
        Ids such as ``trec8/adhoc``, or patterns such as ``trec1?/web``. Default: all tracks.
    year : str or int, optional
        A year, a range such as ``1999-2005``, or several joined by commas.
    track, task : str, optional
        Name or pattern of a track, such as ``web``, and of a task; case is ignored. A track's
        name counts as a task, too: the tasks of ``trec5/adhoc`` are its categories A and B.
    has : str or collection of str, optional
        Only tracks with addresses of ``qrels``, addresses of ``runs``, or ``published`` scores.
    state : str, optional
        ``ready`` (can be evaluated), ``needs a choice`` (about its qrels), ``not a ranking task``,
        ``no qrels`` or ``no runs`` (of known address).

    Returns
    -------
    Catalog
        Frames of the selected tracks, perhaps of none.

    Raises
    ------
    UsageError
        If an id or pattern matches no track, or a filter is malformed.

    Examples
    --------
    >>> found = irmeta.catalog(year="1999-2005", track="robust", has="qrels,runs")
    >>> found.tracks.select("id", "runs", "groups")
    shape: (3, 3)
    ┌───────────────┬──────┬────────┐
    │ id            ┆ runs ┆ groups │
    │ ---           ┆ ---  ┆ ---    │
    │ str           ┆ u32  ┆ u32    │
    ╞═══════════════╪══════╪════════╡
    │ trec12/robust ┆ 78   ┆ 16     │
    │ trec13/robust ┆ 110  ┆ 14     │
    │ trec14/robust ┆ 74   ┆ 17     │
    └───────────────┴──────┴────────┘
    """
    check_not_forked()
    patterns = [tracks] if isinstance(tracks, str) else list(tracks)
    wanted = [one.strip() for one in has.split(",")] if isinstance(has, str) else has
    selected = facts.find(patterns, year=year, track=track, task=task, has=wanted, state=state)
    return Catalog(tuple(selected))
