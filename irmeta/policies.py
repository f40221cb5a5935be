"""The choices that change a number, by name: fixed at ingest or recorded in each result."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args, get_type_hints

from irmeta.errors import UsageError, check_whole, did_you_mean

TieOrder = Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"]
Duplicates = Literal["error", "first"]
Malformed = Literal["error", "skip"]
Averaged = Literal["judged", "relevant", "retrieved"]
Negative = Literal["unjudged", "nonrelevant"]


@dataclass(frozen=True)
class _Policy:
    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            value, allowed = getattr(self, field.name), get_args(hints[field.name])
            if allowed and isinstance(allowed[0], str) and value not in allowed:
                hint = did_you_mean(str(value), allowed)
                raise UsageError(f"{field.name} = {value!r} is not a known choice. {hint}")

    def record(self) -> dict[str, Any]:
        """The policy as plain JSON values, for a manifest or a result's metadata."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The policy that `record` wrote down."""
        return cls(**record)


@dataclass(frozen=True)
class ReadPolicy(_Policy):
    """How run files become ranked lists. Fixed when a track is ingested.

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
        A doc twice in a list: ``error`` sets the run aside, ``first`` keeps the first line.
    malformed
        A line that cannot be read: ``error`` sets the run aside, ``skip`` drops and counts it.
    """

    tie_order: TieOrder = "trec_eval"
    depth: int | None = None
    duplicates: Duplicates = "error"
    malformed: Malformed = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth is not None:
            object.__setattr__(self, "depth", check_whole("depth", self.depth))


@dataclass(frozen=True)
class EvalPolicy(_Policy):
    """What is averaged and how qrels are read. Recorded in each result's metadata.

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
    """

    queries: Averaged = "judged"
    negative: Negative = "unjudged"
    qrels: str | None = None
    tie_order: TieOrder | None = None
    pool_order: TieOrder = "score-file"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tie_order is not None:
            ReadPolicy(tie_order=self.tie_order)
