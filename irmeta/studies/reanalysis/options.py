"""Options of the overview."""

from __future__ import annotations

from dataclasses import dataclass, replace

from irmeta.options import option
from irmeta.policies import TrackOptions, Unretrieved


@dataclass(frozen=True)
class OverviewOptions(TrackOptions):
    """Options of the overview."""

    measures: tuple[str, ...] = option(
        ("default",),
        "Names or presets of measures (repeatable); ASL adds ASL(unretrieved=depth).",
        parse="irmeta.studies.reanalysis.options:with_deep",
        flag="-m --measures",
    )
    rarity_depth: int = option(
        100, "Deepest rank at which a system retrieves a doc, for rarity.", least=1
    )
    unretrieved: Unretrieved = option(
        "irrel", "Search length of a relevant doc that is not retrieved, in the tables of lengths."
    )

    def __post_init__(self) -> None:
        if self.tie_order is None:  # a preset may set the tie order
            from irmeta.measures.names import parse_call

            _, policy = parse_call(self.measures, {})
            object.__setattr__(self, "tie_order", policy.tie_order)
        super().__post_init__()

    def scored(self) -> tuple[str, ...]:
        """Return the measures of the overview."""
        return self.measures


def with_deep(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return canonical names; each search length follows its ``unretrieved=depth`` variant.

    By Eq. 3 of the paper, short lists have short search lengths: see measure ASL.
    """
    from irmeta.measures.names import parse_measures

    expanded: dict[str, None] = {}
    for spec in parse_measures(names):
        if spec.measure.counts_irrelevant:
            params = tuple((n, "depth" if n == "unretrieved" else v) for n, v in spec.params)
            expanded[replace(spec, params=params).name] = None
        expanded[spec.name] = None
    return tuple(expanded)
