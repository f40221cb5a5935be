"""Empty figures, because drawing takes most of the time of a small study."""

from __future__ import annotations

import pytest

from irmeta.studies import drawing

SVG = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
IMAGES = {"svg": SVG.encode(), "pdf": b"%PDF", "png": b"\x89PNG"}


def draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace drawing by empty image files."""
    monkeypatch.setattr(drawing, "draw", lambda spec, formats: {f: IMAGES[f] for f in formats})
