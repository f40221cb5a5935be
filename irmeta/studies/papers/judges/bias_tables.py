"""Tables of bias: the scale of each judge, and the systems and groups that it favours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from irmeta.stats.bias import JudgeBias, judge_bias
from irmeta.studies.papers.judges.judged_track import JudgedTrack

FACTS = ("group", "type")
"""Facts of systems by which they are grouped."""
_SCALE = ("shift", "shift_low", "shift_high", "slope", "slope_low", "slope_high")


def bias_tables(judged: JudgedTrack) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables `scales`, `systems` and `groups`."""
    groups, facts = groups_of(judged), facts_of(judged)
    for scores in judged.scores.measures:
        for sides in scores.sides:
            bias = judge_bias(sides.reference, sides.judged)
            key = [pl.lit(sides.judge).alias("judge"), pl.lit(scores.measure).alias("measure")]
            scale = pl.DataFrame({name: [getattr(bias, name)] for name in _SCALE})
            yield "scales", scale.select(*key, pl.all())
            yield "systems", _placed(bias).join(facts, on="system").select(*key, pl.all())
            for fact, group_of in groups.items():
                by = pl.lit(fact).alias("by")
                found = _named(bias.groups(group_of), "contrast")
                yield "groups", found.select(*key, by, pl.all())


def groups_of(judged: JudgedTrack) -> dict[str, Mapping[str, str | None]]:
    """Return the group and the type of each system, where the systems differ in them."""
    facts = judged.track.facts
    known = {"group": facts.groups, "type": facts.types}
    return {
        fact: dict(zip(facts.systems, known[fact], strict=True))
        for fact in FACTS
        if len({value for value in known[fact] if value}) > 1
    }


def facts_of(judged: JudgedTrack) -> pl.DataFrame:
    """Return the group and the type of each system; null where unknown."""
    facts = judged.track.facts
    systems = facts.systems
    named = {"group": facts.groups, "type": facts.types}
    columns = {name: list(values) or [None] * len(systems) for name, values in named.items()}
    return pl.DataFrame(
        {"system": list(systems), **columns}, dict.fromkeys(("system", *FACTS), pl.String)
    )


def _named(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Name the bounds of an interval by its estimate."""
    return rows.rename({"low": f"{name}_low", "high": f"{name}_high"})


def _placed(bias: JudgeBias) -> pl.DataFrame:
    """Return the systems with their places, where ties are ordered by name."""
    rows = _named(bias.systems(), "residual")
    return rows.with_columns(
        pl.struct(f"rank_{side}", "system").rank("ordinal").cast(pl.Int32).alias(f"place_{side}")
        for side in ("reference", "judge")
    )
