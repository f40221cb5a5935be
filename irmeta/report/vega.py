"""Rendering of Vega-Lite specs, in this process or in a process that runs only this file.

The other process imports no other file of irmeta. Its first input line is Python's search path;
each further line is JSON, a spec and the pixels of its PNG or null. Each output line is JSON with
svg, or with pdf and png in base64, or with error.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from contextlib import suppress
from typing import Any

READY = b"ready\n"


def vega_svg(spec: dict[str, Any]) -> str:
    """Render a Vega-Lite spec as SVG, without network access."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def vega_print(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """Render a spec as PDF, and as PNG with `ppi` pixels for each 72 of the figure."""
    import vl_convert

    svg = vega_svg(spec)
    return vl_convert.svg_to_pdf(svg), vl_convert.svg_to_png(svg, ppi=ppi)


def answer(spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
    """Render a figure as text to send between processes."""
    if ppi is None:
        return {"svg": vega_svg(spec)}
    images = zip(("pdf", "png"), vega_print(spec, ppi), strict=True)
    return {name: b64encode(image).decode() for name, image in images}


def _serve() -> None:
    """Render specs from stdin until end of input."""
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    import vl_convert as vl_convert

    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        try:
            reply = answer(*json.loads(line))
        except Exception as error:
            reply = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        _serve()
