"""Vega-Lite specs to images. It loads nothing else, for processes that only draw."""

from __future__ import annotations

from typing import Any


def vega_svg(spec: dict[str, Any]) -> str:
    """The figure of a Vega-Lite spec; no network is asked for anything."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def vega_print(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """The same as PDF, and as PNG with `ppi` pixels for each 72 of the figure's own."""
    import vl_convert

    svg = vega_svg(spec)
    return vl_convert.svg_to_pdf(svg), vl_convert.svg_to_png(svg, ppi=ppi)
