"""What the study may be asked, and the names of its measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from numbers import Real
from typing import Any

import polars as pl

from irmeta.errors import UsageError, check_choice, check_share, check_whole, did_you_mean
from irmeta.measures.evaluate import how_made
from irmeta.measures.names import parse_measure
from irmeta.measures.search_length import UNRETRIEVED
from irmeta.measures.spec import Spec
from irmeta.policies import EvalPolicy
from irmeta.stats.pairs import TESTS
from irmeta.store.scan import StoreReader

PERSISTENCE = 0.8  # of RBP
FACTS = ("group", "type", "pooled")
PLACES = ("best", "median")

NAME = "search-length"
REVISION = 1  # raised when a change of the code changes results


@dataclass(frozen=True)
class Settings:
    """The choices of the study.

    Attributes
    ----------
    rel
        The least grade that is relevant.
    unretrieved
        The search length of a relevant doc that is not retrieved, wherever ASL stands for itself;
        the chains always take ``floor``, since 1/SL must exist.
    min_runs
        A track with fewer systems is left out of all that is said over tracks (the paper: 5).
    best_by
        The measure that says which system is best; None: each measure its own.
    baseline, contender
        The two sides of Table 1: ``best`` or ``median`` (by ASL), ``COLUMN=VALUE`` for the best of
        a group by the system facts (type=manual), or a system's name.
    firsts
        Further N of ASL@gN to compute, beside 1 and 10.
    depth
        Where lists are cut to see how much of a result is their depth (footnote 6).
    ratio, alpha, test
        When a system is better than another: see `irmeta.stats.reordering.better`.
    resamples, confidence, seed
        Of the bootstrap intervals over queries.
    """

    rel: int = 1
    unretrieved: str = "irrel"
    min_runs: int = 5
    best_by: str | None = None
    baseline: str = "median"
    contender: str = "best"
    firsts: tuple[int, ...] = ()
    depth: int = 100
    ratio: float = 1.10
    alpha: float = 0.05
    test: str = "t"
    resamples: int = 10_000
    confidence: float = 0.95
    seed: int = 0
    policy: EvalPolicy = field(default_factory=EvalPolicy)

    def __post_init__(self) -> None:
        for name in ("rel", "min_runs", "depth", "resamples"):
            object.__setattr__(self, name, check_whole(name, getattr(self, name)))
        object.__setattr__(self, "seed", check_whole("seed", self.seed, least=0))
        firsts = tuple(check_whole("firsts", first) for first in self.firsts)
        object.__setattr__(self, "firsts", firsts)
        check_choice("unretrieved", self.unretrieved, UNRETRIEVED)
        check_choice("test", self.test, TESTS)
        for name in ("alpha", "confidence"):
            check_share(name, getattr(self, name))
        if not isinstance(self.ratio, Real) or not self.ratio >= 1:
            raise UsageError(f"ratio = {self.ratio!r} is not at least 1.")
        if self.best_by is not None:
            object.__setattr__(self, "best_by", parse_measure(self.best_by).name)

    def asl(self, first: int | None = None, unretrieved: str | None = None) -> str:
        """The canonical name of ASL, or of ASL@gN."""
        choice = self.unretrieved if unretrieved is None else unretrieved
        return self._named(f"ASL(rel={self.rel},unretrieved={choice})", first and f"g{first}")

    @property
    def ap(self) -> str:
        return self._named(f"AP(rel={self.rel})")

    @property
    def p20(self) -> str:
        return self._named(f"P(rel={self.rel})", 20)

    @property
    def rr(self) -> str:
        return self._named(f"RR(rel={self.rel})")

    @property
    def rbp(self) -> str:
        return self._named(f"RBP(p={PERSISTENCE},rel={self.rel})")

    @property
    def bpref(self) -> str:
        return self._named(f"Bpref(rel={self.rel})")

    @property
    def headroom(self) -> tuple[str, str, str, str]:
        """The measures of Figures 1 to 4, in that order."""
        return self.p20, self.asl(10), self.ap, self.asl()

    @property
    def shallow(self) -> tuple[str, ...]:
        """The measures that are computed again on lists cut at `depth`."""
        return self.ap, self.asl(), self.asl(10)

    @property
    def compared_choices(self) -> tuple[str, ...]:
        """AP, P@20, RR, and ASL and every ASL@gN with every choice for docs not retrieved."""
        firsts = dict.fromkeys((None, 10, 1, *self.firsts))
        choices = (self.asl(first, how) for first in firsts for how in UNRETRIEVED)
        return (self.ap, self.p20, self.rr, *choices)

    def specs(self) -> list[Spec]:
        """All measures that are computed, without repetition."""
        chains = [self.rbp, "nDCG", "ERR"]
        own = [*self.compared_choices, self.bpref, self.asl(), self.asl(1), self.asl(10)]
        asked = [self.best_by] if self.best_by is not None else []
        names = [parse_measure(name).name for name in (*own, *chains, *asked)]
        return [parse_measure(name) for name in dict.fromkeys(names)]

    def record(self) -> dict[str, Any]:
        """As plain JSON values; with the revision of each measure, since numbers change with it."""
        return asdict(self) | {"revisions": {s.name: s.measure.revision for s in self.specs()}}

    def check(self, systems: pl.DataFrame) -> None:
        """Refuse a side of Table 1 that no track has; `systems` is that table of all tracks.

        Raises
        ------
        UsageError
            For a column that is no fact of systems, a value that no system has, or a name likewise.
        """
        known = systems.filter(pl.col("set_aside").is_null())
        for side in (self.baseline, self.contender):
            column, is_group, value = side.partition("=")
            names = known["system"].drop_nulls().unique().sort().to_list()
            if side in PLACES or side in names:
                continue
            if not is_group:
                hint = did_you_mean(side, [*names, *PLACES])
                raise UsageError(f"no system {side!r} for a side of the comparison. {hint}")
            if column not in FACTS:
                hint = did_you_mean(column, FACTS)
                raise UsageError(f"{side!r}: systems have no fact {column!r}. {hint}")
            values = known[column].drop_nulls().cast(pl.String).unique().sort().to_list()
            if value not in values:
                said = did_you_mean(value, values) if values else "No track says it of its systems."
                raise UsageError(f"{side!r}: no system has {column} {value!r}. {said}")

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Settings:
        """The settings that `record` wrote down."""
        own: dict[str, Any] = {f.name: record[f.name] for f in fields(cls)}
        own["policy"] = EvalPolicy.from_record(record["policy"])
        own["firsts"] = tuple(record["firsts"])
        return cls(**own)

    def _named(self, name: str, cutoff: object = None) -> str:
        return parse_measure(f"{name}@{cutoff}" if cutoff is not None else name).name


def provenance(store: StoreReader, settings: Settings, *tracks: str) -> dict[str, Any]:
    """What results of these tracks were computed from and how."""
    return {
        "study": NAME,
        "revision": REVISION,
        "settings": asdict(settings),
        **how_made(store, settings.specs(), settings.policy, tracks),
    }
