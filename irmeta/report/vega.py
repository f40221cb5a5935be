"""Rendering of Vega-Lite specs, in this process or in a process that runs only this file.

The other process imports no other file of irmeta. Its first input line is Python's search path;
each further line is JSON: a spec, formats, and the pixels of a PNG. Each output line is JSON: the
images by format, PDF and PNG in base64; or an error.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Collection
from contextlib import suppress
from typing import Any

READY = b"ready\n"


def vega_svg(spec: dict[str, Any]) -> str:
    """Render a Vega-Lite spec as SVG, without network access."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def vega_print(spec: dict[str, Any], formats: Collection[str], ppi: int) -> dict[str, bytes]:
    """Render a spec as pdf or png; PNG with `ppi` pixels for each 72 of the figure."""
    import vl_convert

    svg, images = vega_svg(spec), dict[str, bytes]()
    if "pdf" in formats:
        images["pdf"] = vl_convert.svg_to_pdf(svg)
    if "png" in formats:
        images["png"] = vl_convert.svg_to_png(svg, ppi=ppi)
    return images


def answer(spec: dict[str, Any], formats: Collection[str], ppi: int) -> dict[str, str]:
    """Render a figure as svg alone, or as pdf and png, as text to send between processes."""
    if "svg" in formats:
        return {"svg": vega_svg(spec)}
    images = vega_print(spec, formats, ppi)
    return {name: b64encode(image).decode() for name, image in images.items()}


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
