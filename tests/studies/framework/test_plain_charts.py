"""Charts that are built plainly have the specs that Altair gives them otherwise."""

from __future__ import annotations

from threading import Thread
from typing import Any

import altair as alt
import polars as pl
import pytest
from altair.utils import schemapi

from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.heat import heat_map
from irmeta.studies.framework.study_figures import plainly

CELLS = pl.DataFrame({"across": ["a", "b"], "down": ["a", "a"], "value": [0.5, -1.0]})


def curves() -> Any:
    rows = {"pane": ["p", "p", "q"], "name": ["s", "s", "t"], "x": [1, 2, 1], "y": [0.1, 0.2, 0.3]}
    frame = pl.DataFrame(rows).with_columns(dashed=pl.lit(False))
    panes = [Pane("p", "first"), Pane("q", "second")]
    return curve_panes(frame, panes, title="T", subtitle="S", x_title="X", rules=[(1, "one")])


def heat() -> Any:
    return heat_map(CELLS.with_columns(name=pl.lit("n")), title="T", subtitle="S")


def with_parameters() -> Any:
    click = alt.selection_point(name="click")
    marks = alt.Chart(CELLS).mark_point().encode(alt.X("value:Q")).add_params(click)
    rule = alt.Chart(CELLS).mark_rule()
    return alt.concat(alt.layer(marks, rule), rule)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("build", [curves, heat, with_parameters])
def test_plainly__same_spec(build):
    expected = build().to_dict()
    with plainly():
        assert build().to_dict(validate=False) == expected


def test_plainly__validates_again_after_the_last_of_several_threads():
    api = alt.vegalite.v6.api
    before = schemapi.DEBUG_MODE, api._combine_subchart_params, api._remove_duplicate_params
    assert before[0] is True

    def draw() -> None:
        for _ in range(5):
            with plainly():
                alt.X("a:Q", scale=alt.Scale(zero="no number"))  # not validated

    threads = [Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = schemapi.DEBUG_MODE, api._combine_subchart_params, api._remove_duplicate_params
    assert now == before
    with pytest.raises(schemapi.SchemaValidationError):
        alt.Scale(zero="no number")


def test_plainly__validates_again_after_an_error():
    with pytest.raises(ZeroDivisionError), plainly():
        raise ZeroDivisionError
    assert schemapi.DEBUG_MODE
