"""The claims of the paper on measures that violate a property."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from irmeta.phrases import listed
from irmeta.studies.framework.claims import CannotBeSaid, Claim, Found, cell, minus
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.properties.study import ITERATIONS, SPACE
from irmeta.studies.papers.properties.study import PropertiesOptions as Options

VIOLATED = {
    "act-irrelevance": ("ACT", "ACT(per=all)@10", "irrelevance", "99.91%: 29,496 of 29,523"),
    "ap-ia-redundancy": ("AP-IA", "AP_IA", "redundancy", "100%: 2,026 of 2,026"),
    "act-induction": ("ACT", "ACT(per=all)@10", "induction", "violated"),
    "ap-ia-induction": ("AP-IA", "AP_IA", "induction", "violated"),
}
ALLOWED: dict[str, tuple[str, ...]] = {
    "irrelevance": ("ACT",),
    "redundancy": ("AP_IA",),
    "induction": ("ACT", "AP_IA"),
}
"""The only measures that violate a property, without their parameters."""
PROPERTIES = ("relevance", *ALLOWED)
PADDED = ("P", "P_IA", "nDCG", "alpha_nDCG")
NAME = pl.col("measure").str.extract(r"^([^(@]+)")


def claims(options: Options) -> Iterator[Claim]:
    """Yield the claims of the paper; its numbers are those of its own rankings."""
    space = options.space
    is_papers = (space.subtopics, space.length, space.relevant_docs) == (
        *SPACE, SPACE[1])  # fmt: skip
    for name, (short, measure, prop, printed) in VIOLATED.items():
        yield Claim(name, f"{short} violates {prop}.", "Section 4.2, Table 1",
                    f"share of the pairs that {_printed(measure)} violates",
                    _share("table_1", measure, prop), "> 0", "once", printed if is_papers else "",
                    ".2%")  # fmt: skip
    for prop in PROPERTIES:
        allowed = ALLOWED.get(prop, ())
        subject = f"No measure but {listed([*map(_printed, allowed)])}" if allowed else "No measure"
        yield Claim(f"only-{prop}", f"{subject} violates {prop}.", "Section 4.2, Table 1",
                    "other measures with a violation", _others(prop, allowed), "<= 0", "once", "0",
                    ".0f")  # fmt: skip
    for docs in ITERATIONS[:-1]:
        for test, prop in (("ACT", "irrelevance"), ("CT", "relevance"), ("nCT", "relevance")):
            violates = test == "ACT"
            text = f"{test} {'violates' if violates else 'keeps'} {prop} with {docs} docs per "
            yield Claim(f"{test.lower()}-{prop}-{docs}", f"{text.replace('1 docs', '1 doc')}"
                        "iteration too.", "Section 4.1", f"share of the pairs that {test} violates",
                        _iterated(test, str(docs), prop), "> 0" if violates else "<= 0", "once",
                        format=".2%", check=True)  # fmt: skip
    yield Claim("single-act", "With one subtopic, ACT violates irrelevance.", "Section 5",
                "share of the pairs that ACT violates", _share("single_subtopic",
                "ACT(per=all)@10", "irrelevance"), "> 0", "once", format=".2%")  # fmt: skip
    yield Claim("single-ap-ia", "With one subtopic, AP-IA violates nothing.", "Section 5",
                "violated pairs of all properties", _violated, "<= 0", "once",
                format=",.0f")  # fmt: skip
    for name, text, measure, (better, worse), printed in (
        ("act-example", "A non-relevant doc raises ACT.", "ACT(per=all)@10",
         ("abx", "ab"), "0.0833 against 0.0750"),
        ("ap-ia-example", "A second doc of a subtopic is worth more than one of a new subtopic by "
         "AP-IA.", "AP_IA", ("axxa", "axxb"), "0.150 against 0.125"),
    ):  # fmt: skip
        a, b = (
            cell("worked", "value", measure=measure, ranking=ranking) for ranking in (better, worse)
        )
        yield Claim(name, text, "Section 4.3", f"score of {better} minus that of {worse}",
                    minus(a, b, ".4f"), "> 0", "once", printed, ".4f")  # fmt: skip
    yield Claim("pads", "P, P-IA, nDCG and alpha-nDCG pad rankings to the cutoff.", "Section 5",
                "share of the measures that pad", _pads, ">= 1", "once",
                format="percent")  # fmt: skip


def _printed(measure: str) -> str:
    return measure.replace("_IA", "-IA")


def _counts(rows: pl.DataFrame, why: str) -> Found:
    applicable, violated = (int(rows[name].sum()) for name in ("applicable", "violated"))
    if not applicable:
        raise CannotBeSaid(why)
    return Found(violated / applicable, f"{violated:,} of {applicable:,} pairs")


def _share(table: str, measure: str, prop: str) -> Callable[[Tables], Found]:
    why = f"{_printed(measure)} is not among the measures, or {prop} applies to no pair"
    return lambda tables: _counts(tables[table].filter(measure=measure, property=prop), why)


def _iterated(test: str, docs: str, prop: str) -> Callable[[Tables], Found]:
    return lambda tables: _counts(
        tables["iterations"].filter(test == NAME, per=docs, property=prop),
        f"no measure is {test}",
    )


def _others(prop: str, allowed: tuple[str, ...]) -> Callable[[Tables], Found]:
    def statistic(tables: Tables) -> Found:
        rows = tables["table_1"].filter(~NAME.is_in(list(allowed)), property=prop)
        if rows.is_empty():
            raise CannotBeSaid("there is no other measure")
        failed = [*map(_printed, rows.filter(pl.col("violated") > 0)["measure"])]
        return Found(len(failed), listed(failed, 5) if failed else f"of {rows.height} measures")

    return statistic


def _violated(tables: Tables) -> Found:
    rows = tables["single_subtopic"].filter(measure="AP_IA")
    if rows.is_empty():
        raise CannotBeSaid("AP-IA is not among the measures")
    return Found(int(rows["violated"].sum()), f"of {rows['applicable'].sum():,} pairs")


def _pads(tables: Tables) -> Found:
    rows = tables["truncation"].drop_nulls("treatment")
    rows = rows.filter(NAME.is_in(PADDED))
    if rows.is_empty():
        raise CannotBeSaid("none of these measures has a cutoff above the shortest ranking")
    others = [*map(_printed, rows.filter(pl.col("treatment") != "pads")["measure"])]
    why = f"not {listed(others, 5)}" if others else f"{rows.height} measures"
    return Found(1 - len(others) / rows.height, why)
