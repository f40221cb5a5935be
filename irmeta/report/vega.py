"""Vega-Lite specs to SVG. It loads nothing else, since processes that only draw are many."""

from __future__ import annotations

from typing import Any


def vega_svg(spec: dict[str, Any]) -> str:
    """The figure of a Vega-Lite spec; no network is asked for anything."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
