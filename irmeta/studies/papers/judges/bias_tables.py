"""Tables of bias: systems and groups whose means the errors of a judge displace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from irmeta.measures.names import parse_measures
from irmeta.measures.permuted_labels import is_doc_sum, permuted_means
from irmeta.preferences.registry import is_preference
from irmeta.rankings.needs import needs_of
from irmeta.results.matrix import Matrix
from irmeta.stats.aggregation import rank_rows
from irmeta.stats.bias import JudgeBias, judge_bias
from irmeta.stats.orders import round_means
from irmeta.studies.papers.judges.judged_track import JudgedTrack, common_names

FACTS = ("group", "type")
"""Facts of systems by which they are grouped."""
_TESTED = ("displacement", "contrast", "sd", "z", "p", "flagged", "detectable", "unjudged")


def bias_tables(judged: JudgedTrack) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables `groups` and `systems`."""
    rows, facts = bias_of(judged).frame, facts_of(judged)
    yield (
        "groups",
        rows.filter(pl.col("by") != "system").select(
            "judge", "measure", "by", pl.col("name").alias("group"), "systems", *_TESTED
        ),
    )
    tested = rows.filter(by="system").select(
        "judge", "measure", pl.col("name").alias("system"), *_TESTED
    )
    for scores in judged.scores.measures:
        for sides in scores.sides:
            key = {"judge": pl.lit(sides.judge), "measure": pl.lit(scores.measure)}
            found = _placed(sides.reference, sides.judged).join(facts, on="system")
            found = found.with_columns(**key).join(
                tested, on=["judge", "measure", "system"], how="left", maintain_order="left"
            )
            reals = [name for name in _TESTED if name != "flagged"]
            yield (
                "systems",
                found.with_columns(
                    pl.col(reals).fill_null(float("nan")), pl.col("flagged").fill_null(False)
                ),
            )


def bias_of(judged: JudgedTrack) -> JudgeBias:
    """Test the bias of all judges, by the measures of which draws take little time.

    The first measure, which verdicts are by, is tested also if they take long.
    """
    options = judged.options
    specs = {name: parse_measures(name)[0] for name in options.measures if not is_preference(name)}
    specs = {
        name: spec
        for name, spec in specs.items()
        if is_doc_sum(spec) or (name == options.measures[0] and "subtopics" not in spec.needs)
    }
    needs = needs_of(specs.values())
    sets = {one: common_names(one)[1] if options.common else one for one in judged.judges}
    permuted = permuted_means(
        list(judged.track.blocks(needs, qrels=judged.reference)),
        {judge: list(judged.track.blocks(needs, qrels=name)) for judge, name in sets.items()},
        [*specs],
        within=options.within,
        draws=options.draws,
        rng=options.seed,
    ) if specs else []  # fmt: skip
    return judge_bias(permuted, groups=groups_of(judged), confidence=1 - options.alpha)


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


def _placed(reference: Matrix, judge: Matrix) -> pl.DataFrame:
    """Return means, ranks and places of the systems, best by the reference first.

    In places ties are ordered by name.
    """
    columns = dict[str, object]()
    for side, matrix in (("reference", reference), ("judge", judge)):
        means = matrix.means
        columns[f"mean_{side}"] = means
        columns[f"rank_{side}"] = rank_rows(round_means(means * matrix.direction)[None])[0]
    frame = pl.DataFrame({"system": pl.Series(reference.systems, dtype=pl.String), **columns})
    places = (
        pl.struct(f"rank_{side}", "system").rank("ordinal").cast(pl.Int32).alias(f"place_{side}")
        for side in ("reference", "judge")
    )
    return frame.with_columns(places).sort("place_reference")
