"""What the options of studies name in a store, and tracks that options exclude."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import irmeta
from irmeta.options import choices_of, typed_fields, value_type
from irmeta.studies.framework.registry import find, study_modules

READING = [name for name in study_modules() if find(name).inputs != "none"]
TYPOS = {  # of a system, query or set of the made store, and the nearest name
    "system": ("aldBM52", "aldBM25"),
    "systems": ("group=ceadr", "cedar"),
    "side": ("type=manaul", "manual"),
    "query": ("q901", "901"),
    "qrels": ("binray", "binary"),
    "judge": ("gradde", "graded"),
    "overlay": ("binray,graded", "binary"),
}


def text_options(study: str) -> Iterator[tuple[str, str | None]]:
    """Yield the options of any text, with what they name in a store."""
    for one, kind in typed_fields(find(study).options):
        plain = value_type(kind)
        rule = one.metadata
        is_text = str in (plain, *get_args(plain)) and not choices_of(one, kind)
        if is_text and not rule["parse"] and not rule["file"]:
            yield one.name, rule["names"]


def test_study_options__texts_are_checked_by_a_parser_or_in_the_store():
    assert [o for s in study_modules() for o, names in text_options(s) if names is None] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("study", "option", "names"),
    [
        (s, *one)
        for s in READING
        for one in text_options(s)
        if (s, one[0]) != ("judges", "overlay")  # refused as a whole
    ],
)
def test_study__unknown_name_is_refused_with_the_nearest(
    study: str, option: str, names: str, made_store: irmeta.Store, tmp_path: Path
):
    typo, near = TYPOS["overlay" if option == "overlay" else names]
    function = getattr(irmeta.studies, study.replace("-", "_"))
    with pytest.raises(irmeta.UsageError, match=f"^{option} = .* Did you mean '{near}'"):
        function(made_store, tmp_path / "out", **{option: typo})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("study", "options", "said"),
    [
        ("innovation", {"rel": 5}, "news has the highest grade 1, below rel = 5; passage has the "),
        ("search_length", {"min_systems": 100}, "passage has 9 systems, fewer than min_systems = "),
        ("depth", {"min_systems": 21, "track": "news"}, "news has 20 systems"),
        (
            "preference",
            {"rel": 4, "min_systems": 13},
            "news has the .* grade 1.*web has 12 sys",
        ),
    ],
)
def test_study__options_that_exclude_every_track_are_refused(
    study: str, options: dict[str, Any], said: str, made_store: irmeta.Store, tmp_path: Path
):
    with pytest.raises(irmeta.UsageError, match=f"options exclude every track: .*{said}"):
        getattr(irmeta.studies, study)(made_store, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["foo@1", "ndgc@10"])
def test_study__unknown_measure_with_a_cutoff_is_unknown_first(name: str):
    for study in ("depth", "overview", "properties"):
        with pytest.raises(irmeta.MeasureError, match=f"unknown measure '{name}'"):
            find(study).options(measures=name)
