"""Empty figures, because charts take most of the time of a small study."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from irmeta.studies import drawing_processes
from irmeta.studies.framework import study_figures

SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
SPEC_OF = study_figures.spec_of
IMAGES = {"svg": SVG.encode(), "pdf": b"%PDF", "png": b"\x89PNG"}


def draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build no charts, and write empty image files."""
    monkeypatch.setattr(
        drawing_processes, "draw", lambda spec, formats: {f: IMAGES[f] for f in formats}
    )
    monkeypatch.setattr(study_figures, "spec_of", rows_of)


@contextmanager
def charts_are_built() -> Iterator[None]:
    """Build charts, so that those of unusual tracks are tested, but draw no images of them."""
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        patched.setattr(study_figures, "spec_of", SPEC_OF)
        yield


def rows_of(one: study_figures.Drawn) -> dict[str, Any]:
    """Return the name and the rows of a chart, which change when the chart does."""
    (rows, *_) = one.draw.args
    return {"name": one.name, "rows": rows.to_dicts()}
