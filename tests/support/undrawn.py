"""Figures that say nothing: drawing is most of a small batch's time."""

from __future__ import annotations

import pytest

from irmeta.studies import drawing

SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
IMAGES = {"svg": SVG.encode(), "pdf": b"%PDF", "png": b"\x89PNG"}


def draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write every file of a figure, empty."""
    monkeypatch.setattr(drawing, "draw", lambda spec, formats: {f: IMAGES[f] for f in formats})
