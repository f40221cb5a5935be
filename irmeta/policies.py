"""Policies: named choices that affect results, fixed at ingest or recorded in each result."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from irmeta.errors import UsageError, did_you_mean
from irmeta.options import Options, option

TieOrder = Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"]
Duplicates = Literal["error", "first"]
Malformed = Literal["error", "skip"]
Averaged = Literal["judged", "relevant", "retrieved"]
Negative = Literal["unjudged", "nonrelevant"]
NAMES = ("auto", "tag", "file")
"""The ways to name systems, other than a pattern."""
Unretrieved = Literal["irrel", "floor", "irrel+1", "depth"]
Test = Literal[
    "t", "t-unpaired", "wilcoxon", "sign", "permutation", "bootstrap",
    "hsd", "hsd-blocked", "hsd-randomised",
]  # fmt: skip


@dataclass(frozen=True)
class ReadPolicy(Options):
    """Policy that turns run files into ranked lists, fixed when a track is ingested.

    Parameters
    ----------
    tie_order
        ``trec_eval``: score descending compared as float32, then doc descending by bytes
        (trec_eval 7-9, pytrec_eval, TREC's published numbers). ``trec_eval10``: in float64.
        ``score-file``: score descending, ties in line order. ``file``: line order, scores ignored.
        ``rank``: the file's rank column, ties in line order.
    depth
        Keep the first `depth` docs of each list, after ordering (trec_eval -M); None keeps all.
    duplicates
        A doc twice in a list: ``error`` skips the run, ``first`` keeps the first line.
    malformed
        A line that cannot be read: ``error`` skips the run, ``skip`` drops the line and counts it.
    names
        How systems are named. ``tag``: by the last column of their runs, or by the file where that
        is missing; a second run of one name is skipped. ``file``: by the file's name without
        extension, compression and a first word that all share (``input.``); files of one name are
        distinguished by folder or extension. ``auto``: by tag, unless two runs of a track have the
        same: then all runs of that track by file. Otherwise a pattern (a regular expression with
        one group) that is matched against the whole file name; the group is the name.

    Examples
    --------
    >>> irmeta.ReadPolicy(tie_order="rank", depth=100).names
    'auto'
    """

    tie_order: TieOrder = option("trec_eval", "Order of docs, and of docs with equal scores.")
    depth: int | None = option(None, "Keep only the first DEPTH docs of each list.", least=1)
    duplicates: Duplicates = option("error", "A doc that occurs twice in a list.")
    malformed: Malformed = option("error", "A line that cannot be read.")
    names: str = option(
        "auto",
        "Names of systems; auto: by tag, or by file in tracks where runs share a tag.",
        parse="irmeta.policies:checked_names",
        metavar="auto|tag|file|PATTERN",
    )


def checked_names(names: str) -> str:
    """Return a valid value of `names`.

    Raises
    ------
    UsageError
        If `names` is none of `NAMES` and no pattern with one group.
    """
    if names in NAMES:
        return names
    import regex  # slow to import, and few collections have a pattern

    hint = did_you_mean(names, NAMES)
    known = f'Known: {", ".join(sorted(NAMES))}; or a pattern such as "input\\\\.(.*)\\\\.gz".'
    fix = hint if hint.startswith("Did") else known
    try:
        groups = regex.compile(names).groups
    except regex.error as error:
        raise UsageError(f"names = {names!r} is not a pattern ({error}). {fix}") from None
    if groups != 1:
        raise UsageError(f"names = {names!r} has {groups} groups, not one. {fix}")
    return names


@dataclass(frozen=True)
class EvalPolicy(Options):
    """Policy for averaging and for reading qrels, recorded in each result's metadata.

    Parameters
    ----------
    queries
        Which queries a mean covers. ``judged``: every query in the qrels, as trec_eval -c; one
        without a list scores the measure's own worst. ``relevant``: only those with a relevant doc
        at the measure's `rel`. ``retrieved``: only those that the system has a list for (trec_eval
        without -c).
    negative
        Grades below 0. ``unjudged``: in the pool but unjudged (trec_eval). ``nonrelevant``:
        judged and not relevant.
    qrels
        The qrels set by name; None is the track's primary set.
    tie_order
        Order the lists by another rule than the store's; None keeps the store's. An error where a
        depth cut was made at reading, since the docs beyond it are gone.
    pool_order
        The tie order under which systems gave their first docs to the pool, for measures that ask
        how deep in the pool a doc lies. ``score-file``: as `head` on a run sorted by score would.
    pool_depth
        Judgments as a pool of this depth would have made them: docs that no contributing system
        ranks so high are unjudged. None: all judgments.
    pool_without
        Systems, ``group=NAME`` or ``type=NAME`` that are removed from the pool and still scored:
        docs that they alone contributed are unjudged. See `JudgedRanks.with_pool`.

    Examples
    --------
    >>> irmeta.EvalPolicy(queries="relevant").negative
    'unjudged'
    """

    queries: Averaged = option("judged", "Queries that means are taken over.")
    negative: Negative = option("unjudged", "Meaning of grades below 0.")
    qrels: str | None = option(None, "Qrels set; default the track's first.", metavar="SET")
    tie_order: TieOrder | None = option(None, "Tie order; default the store's.")
    pool_order: TieOrder = option("score-file", "Tie order of the lists that made the pool.")
    pool_depth: int | None = option(
        None, "Depth of the pool that judgments are cut to; default all judgments.", least=1
    )
    pool_without: tuple[str, ...] = option(
        (),
        "Systems to remove from the pool; they are still scored (repeatable).",
        metavar="SYSTEM|group=NAME|type=NAME",
    )

    @property
    def has_smaller_pool(self) -> bool:
        """Whether judgments are cut to a smaller pool."""
        return self.pool_depth is not None or bool(self.pool_without)


@dataclass(frozen=True)
class TrackOptions(EvalPolicy):
    """Options of every study over tracks."""

    min_systems: int = option(
        1, "Leave tracks with fewer systems out of what is said over tracks.", least=1
    )

    @property
    def policy(self) -> EvalPolicy:
        """The evaluation policy among the options."""
        return EvalPolicy(*(getattr(self, one.name) for one in fields(EvalPolicy)))
