"""Figures that say nothing: drawing is most of a small batch's time."""

from __future__ import annotations

import pytest

from irmeta.report import look
from irmeta.studies import overview_page

SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of a figure is there, and empty."""
    monkeypatch.setattr(overview_page, "to_svg", lambda chart, *_: SVG)
    monkeypatch.setattr(look, "to_svg", lambda chart, *_: SVG)
    monkeypatch.setattr(look, "to_print", lambda chart, **_: (b"%PDF", b"\x89PNG"))
