"""The tables of the study, and `measure_properties`: the same for any measures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import check_whole
from irmeta.measures.evaluate import (
    dependence,
    evaluate_block,
    oriented,
    rank_cutoff,
    score_rankings,
)
from irmeta.measures.explain import trace_value
from irmeta.measures.names import Spec, canonical, parse_measure, parse_measures, registry
from irmeta.measures.spec import Trace
from irmeta.naming import joined, split_form, split_names, texts_of
from irmeta.numbered_rankings import NumberedRankings
from irmeta.parallel import check_not_forked
from irmeta.policies import EvalPolicy
from irmeta.progress import Progress, shows_progress
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import (
    CASES,
    FURTHER,
    INDUCTION,
    PAPER,
    WEIGHT,
    Case,
    Property,
    PropertyCounts,
    count_violations,
    properties_for,
)
from irmeta.studies.framework.study import Row, TableRows
from irmeta.studies.papers.properties import study
from irmeta.studies.papers.properties.study import PropertiesOptions as Options


def described(prop: Property) -> Row:
    """Return the row of a property in the table `properties`."""
    return {
        "property": prop.name,
        "formula": prop.formula,
        "meaning": prop.meaning,
        "strict": prop.strict,
        "source": prop.source,
    }


def count_properties(
    properties: Sequence[Property], space: RankingSpace, specs: Sequence[Spec], values: np.ndarray
) -> list[PropertyCounts]:
    """Count the pairs of each property that each measure violates.

    `values` are those of `score_rankings`.
    """
    scores, cutoffs = oriented(values, specs), [rank_cutoff(spec) for spec in specs]
    return [count_violations(prop, space, scores, space.weights, cutoffs) for prop in properties]


def count_rows(counts: Sequence[PropertyCounts], specs: Sequence[Spec]) -> Iterator[Row]:
    """Yield a row for each measure and property.

    Of induction, pairs that no single property relates are those beyond the properties before it.
    """
    for measure, spec in enumerate(specs):
        direct = direct_violated = 0
        for of in counts:
            applicable = int(of.applicable[measure].sum())
            violated = int(of.violated[measure].sum())
            is_induction = of.property is INDUCTION
            yield {
                "measure": spec.name,
                "property": of.property.name,
                "applicable": applicable,
                "violated": violated,
                "share": violated / applicable if applicable else np.nan,
                "holds": violated == 0 if applicable else None,
                "tied": int(of.tied[measure].sum()),
                "undefined": int(of.undefined[measure].sum()),
                "indirect": applicable - direct if is_induction else None,
                "indirect_violated": violated - direct_violated if is_induction else None,
                "with_empty": int(of.with_empty[measure]),
                "with_empty_violated": int(of.with_empty_violated[measure]),
            }
            direct += applicable
            direct_violated += violated


def by_length(counts: Sequence[PropertyCounts], specs: Sequence[Spec]) -> Iterator[Row]:
    """Yield the counts on all rankings up to each length, of measures that violate a property.

    The judgments are those of the longest rankings.
    """
    for measure, spec in enumerate(specs):
        for of in counts:
            applicable, violated = of.applicable[measure].cumsum(), of.violated[measure].cumsum()
            if violated[-1] == 0:
                continue
            for length in range(1, len(applicable)):
                pairs, failed = int(applicable[length]), int(violated[length])
                yield {
                    "measure": spec.name,
                    "property": of.property.name,
                    "length": length,
                    "applicable": pairs,
                    "violated": failed,
                    "share": failed / pairs if pairs else np.nan,
                }


def edges(rankings: NumberedRankings) -> Iterator[Row]:
    """Yield the pairs that each property relates; of induction, those that no other does."""
    seen = set[tuple[int, int]]()
    for prop in PAPER:
        for _, lower, upper in prop.pairs(rankings, ()):
            ends = (end.ravel().tolist() for end in np.broadcast_arrays(lower[:, None], upper))
            for pair in zip(*ends, strict=True):
                if pair in seen:
                    continue
                seen.add(pair)
                lower_name, upper_name = rankings.names(pair)
                yield {
                    "property": prop.name,
                    "lower": lower_name,
                    "upper": upper_name,
                    "with_empty": 0 in pair,
                }


def worked() -> Iterator[Row]:
    """Score the rankings of Section 4.3, over two subtopics with five relevant docs each."""
    space = RankingSpace(2, 4, study.RELEVANT)
    for (measure, ranking), as_printed in study.WORKED.items():
        view, spec = space.view([space.number(ranking)]), parse_measure(measure)
        value = evaluate_block(view, [spec], EvalPolicy()).values.item()
        yield {"measure": spec.name, "ranking": ranking, "value": value, "printed": as_printed}


DIVIDED = "SetP"
"""The precision of trec_eval that divides by the length of the list, compared in Section 5."""


def truncation(space: RankingSpace, specs: Sequence[Spec], values: np.ndarray) -> Iterator[Row]:
    """Compare the score of each ranking shorter than the cutoff with its score when padded.

    Rankings are padded with non-relevant docs down to the cutoff, or to the length of the longest
    where the cutoff is deeper, or where there is none.
    """
    yield from _compared(space, specs, values)
    divided = parse_measure(DIVIDED)
    if divided not in specs:
        yield from _compared(space, [divided], score_rankings(space, [divided]))


def _compared(space: RankingSpace, specs: Sequence[Spec], values: np.ndarray) -> Iterator[Row]:
    for spec, measured, scores in zip(specs, values, oriented(values, specs), strict=True):
        depth = min(rank_cutoff(spec) or space.length, space.length)
        short, padded = padded_rankings(space, depth)
        with np.errstate(invalid="ignore"):  # of two infinities
            rise = scores[padded] - scores[short]
        is_equal = (scores[padded] == scores[short]) | (np.abs(rise) <= TIE)
        totals = measured[short] * space.lengths(short), measured[padded] * depth
        yield {
            "measure": spec.name,
            "depth": depth,
            "rankings": len(short),
            "equal": int(is_equal.sum()),
            "better": int((~is_equal & (rise > 0)).sum()),
            "worse": int((~is_equal & (rise < 0)).sum()),
            "treatment": _treatment(is_equal, *totals),
        }


def padded_rankings(space: RankingSpace, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rankings of 1 to `depth` - 1 docs, and each padded with non-relevant docs."""
    short = np.arange(space.starts[1], space.starts[max(depth, 1)])
    padded, missing = short.copy(), depth - space.lengths(short)
    for added in range(depth):
        is_short = missing > added
        padded[is_short] = space.branching * (padded[is_short] + 1)
    return short, padded


def _treatment(is_equal: np.ndarray, total: np.ndarray, padded_total: np.ndarray) -> str | None:
    if not is_equal.size:
        return None
    if is_equal.all():
        return "pads"
    with np.errstate(invalid="ignore"):
        is_divided = np.isclose(total, padded_total, rtol=1e-9, atol=1e-12)
    return "divides by length" if is_divided.all() else "other"


def violations(
    counts: Sequence[PropertyCounts],
    space: RankingSpace,
    specs: Sequence[Spec],
    values: np.ndarray,
) -> Iterator[Row]:
    """Yield the first, smallest and largest violation of each measure and property."""
    for measure, spec in enumerate(specs):
        for of in counts:
            for case in CASES:
                pair = violated_pair(of, measure, case, space, values)
                if pair is None:
                    continue
                lower, upper = arithmetic(space, spec, of.examples[measure, case])
                yield {
                    "measure": spec.name,
                    "property": of.property.name,
                    "case": case,
                    **pair,
                    "lower_arithmetic": lower,
                    "upper_arithmetic": upper,
                }


def violated_pair(
    of: PropertyCounts, measure: int, case: Case, space: RankingSpace, values: np.ndarray
) -> Row | None:
    """Return the names and scores of a violated pair; None without a violation."""
    if (pair := of.examples.get((measure, case))) is None:
        return None
    lower, upper = pair
    return {
        "lower": space.name(lower),
        "upper": space.name(upper),
        "lower_value": float(values[measure, lower]),
        "upper_value": float(values[measure, upper]),
    }


def arithmetic(space: RankingSpace, spec: Spec, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the arithmetic of the scores of rankings, as `irmeta explain` shows it."""
    view = space.view([*numbers, *space.longest])
    scores = evaluate_block(view, [spec], EvalPolicy()).values[0, 0]
    for system, score in enumerate(scores[: len(numbers)].tolist()):
        _, trace = trace_value(view, spec, 0, system, score)
        yield written(trace)


def written(trace: Trace) -> str:
    """Return an arithmetic as one line."""
    if trace.undefined is not None:
        return f"defined as {trace.undefined:g}"
    terms = " + ".join(term.arithmetic for term in trace.terms) or "0"
    if trace.divisor == 1:
        return terms
    inside = f"({terms})" if len(trace.terms) > 1 else terms
    return f"{inside} / {trace.divisor:.6g} ({trace.divisor_is})"


def compute(track: None, options: Options) -> TableRows:
    """Yield all tables."""
    space, specs = options.space, options.specs
    further = (*FURTHER, WEIGHT) if options.weights else FURTHER
    yield "properties", map(described, (*PAPER, *further))
    every = options.every_spec  # those of `specs` are the first
    values = score_rankings(space, every)
    paper = count_properties(PAPER, space, every, values)
    yield "table_1", with_printed(count_rows(paper, specs), options)
    yield "iterations", by_iteration(count_rows(paper, every), options)
    values = values[: len(specs)]
    yield "by_length", by_length(paper, specs)
    yield "violations", violations(paper, space, specs, values)
    yield "worked", worked()
    yield "further", count_rows(count_properties(further, space, specs, values), specs)
    yield "truncation", truncation(space, specs, values)
    single = options.single
    alone = paper
    if single != space:
        alone = count_properties(PAPER, single, specs, score_rankings(single, specs))
    yield "single_subtopic", count_rows(alone, specs)
    numbers = np.arange(options.drawn.count)
    lengths = options.drawn.lengths(numbers)
    yield (
        "nodes",
        (
            {"number": number, "ranking": options.drawn.name(number), "length": length}
            for number, length in zip(numbers.tolist(), lengths.tolist(), strict=True)
        ),
    )
    yield "edges", edges(options.drawn)
    yield "paper_numbers", study.NUMBERS


def by_iteration(rows: Iterable[Row], options: Options) -> Iterator[Row]:
    """Yield the rows of the cube tests with the docs of an iteration, test by test."""
    of_measure = defaultdict[str, list[Row]](list)
    for row in rows:
        of_measure[row["measure"]].append(row)
    for name, spec in options.iterated.items():
        docs = str(dict(spec.params)["per"])
        word, inside, cut = split_form(name) or (name, "", "")
        params = [part for part in inside.split(",") if part and not part.startswith("per=")]
        explicit = joined(word, ",".join([f"per={docs}", *params]), cut)
        for row in of_measure[name]:
            yield row | {"measure": explicit, "per": docs}


def with_printed(rows: Iterable[Row], options: Options) -> Iterator[Row]:
    """Add what the paper prints, where measure, rankings and judgments are the paper's."""
    space = options.space
    is_papers = (space.subtopics, space.length) == study.SPACE and not space.weights
    measures = (
        canonical(study.MEASURES) if is_papers and space.relevant_docs >= space.length else []
    )
    for row in rows:
        measure = row["measure"]
        yield row | {
            "printed": study.printed(measure, row["property"]) if measure in measures else None
        }


CUTOFFS: dict[str, float] = {"rank": 5, "level": 0.5}
"""Cutoffs of measures that need one, where no measure is named."""
SCHEMA: dict[str, type[pl.DataType]] = {
    "measure": pl.String,
    "property": pl.String,
    "applicable": pl.Int64,
    "violated": pl.Int64,
    "holds": pl.Boolean,
    "lower": pl.String,
    "upper": pl.String,
    "lower_value": pl.Float64,
    "upper_value": pl.Float64,
}


@shows_progress("Checking properties")
def measure_properties(
    measures: str | Sequence[str] | None = None,
    kinds: str | Sequence[str] = ("truncated", "diverse"),
    *,
    subtopic_count: int = 2,
    length: int = 6,
    relevant: int | None = None,
    progress: Progress = None,
) -> pl.DataFrame:
    """Check which properties measures keep on all short rankings.

    All rankings are enumerated whose docs are relevant to one subtopic each, or to none. One
    violated pair proves that a measure lacks a property; no violated pair up to some length does
    not prove that it has it.

    Parameters
    ----------
    measures : str or sequence of str, optional
        Names or presets. Default: every measure of quality that has a value for a list alone, with
        cutoff 5 if it needs one.
    kinds : str or sequence of str
        Kinds of rankings to score. ``truncated``, of any length: a relevant doc at the end does not
        lower the score, a non-relevant one does not raise it. ``diverse``, over subtopics: a doc of
        a new subtopic is worth no less than one of a subtopic that the list has. Both add
        induction, what these imply together. ``ordered``: docs moved up, and replaced by relevant
        ones.
    subtopic_count : int
        Number of subtopics.
    length : int
        Length of the longest rankings. With 2 subtopics there are 1,093 rankings of up to 6 docs,
        and 88,573 of up to 10.
    relevant : int, optional
        Relevant docs per subtopic; default as many as the longest rankings have.
    progress : bool or callable, optional
        See `irmeta.read`.

    Returns
    -------
    DataFrame
        measure, property; applicable and violated, numbers of pairs of rankings; holds (null: no
        pair is applicable); and of the first violation lower, the ranking that should not score
        more, upper, and the scores of both.

    Raises
    ------
    MeasureError
        If a measure is unknown.
    UsageError
        If a measure compares the list with those of other systems, a kind is unknown, a number is
        not whole or not above 0, or the rankings take more than a minute or half of the memory.

    References
    ----------
    .. [1] Albahem, A., Spina, D., Scholer, F., Moffat, A. and Cavedon, L. (2018). Desirable
       properties for diversity and truncated effectiveness metrics. doi:10.1145/3291992.3291996

    Examples
    --------
    >>> frame = irmeta.measure_properties("AP_IA,StRecall@5")
    >>> frame.filter(~pl.col("holds")).select("measure", "property", "lower", "upper").rows()
    [('AP_IA', 'redundancy', 'aa', 'ab'), ('AP_IA', 'induction', 'aa', 'ab')]
    """
    check_not_forked()
    texts = texts_of(kinds, "kinds")
    asked = properties_for([name for text in texts for name in split_names(text)])
    docs = 0 if relevant is None else check_whole("relevant", relevant)
    space = RankingSpace(check_whole("subtopic_count", subtopic_count), length, docs)
    specs = measures_of_one_list() if measures is None else parse_measures(measures)
    study.check_affordable(space, specs, asked)
    values = score_rankings(space, specs)
    counts = count_properties(asked, space, specs, values)
    first = [
        violated_pair(of, measure, "first", space, values) or {}
        for measure in range(len(specs))
        for of in counts
    ]
    rows = zip(count_rows(counts, specs), first, strict=True)
    return pl.DataFrame([counted | pair for counted, pair in rows], schema=SCHEMA)


def measures_of_one_list() -> list[Spec]:
    """Return the measures of quality that have a value for a list alone."""
    named = [
        f"{measure.name}@{measure.cutoff_prefix}{CUTOFFS[measure.cutoff_is]}"
        if measure.cutoff == "required"
        else measure.name
        for measure in registry().values()
        if measure.family != "count"
    ]
    return [spec for spec in parse_measures(named) if dependence(spec) is None]
