"""`measure_properties`: the properties that measures keep or violate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from irmeta.errors import check_whole
from irmeta.measures.evaluate import dependence, score_rankings
from irmeta.measures.names import Spec, parse_measures, registry
from irmeta.naming import split_names, texts_of
from irmeta.parallel import check_not_forked
from irmeta.progress import Progress, shows_progress
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.properties import properties_for
from irmeta.studies.papers.properties.compute import (
    count_properties,
    count_rows,
    violated_pair,
)
from irmeta.studies.papers.properties.study import check_affordable

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
    check_affordable(space, specs, asked)
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
