"""Vega-Lite specs to images, here, or by a process that runs this file and does nothing else.

Such a process imports no other file of irmeta. It is told Python's search path; then each line in
is JSON, a spec and the pixels of its PNG or none, and each line out is JSON likewise: svg, or pdf
and png in base64, or error.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from contextlib import suppress
from typing import Any

READY = b"ready\n"


def vega_svg(spec: dict[str, Any]) -> str:
    """The figure of a Vega-Lite spec; no network is asked for anything."""
    import vl_convert

    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def vega_print(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
    """The same as PDF, and as PNG with `ppi` pixels for each 72 of the figure's own."""
    import vl_convert

    svg = vega_svg(spec)
    return vl_convert.svg_to_pdf(svg), vl_convert.svg_to_png(svg, ppi=ppi)


def answer(spec: dict[str, Any], ppi: int | None) -> dict[str, str]:
    """A figure as it is sent from process to process."""
    if ppi is None:
        return {"svg": vega_svg(spec)}
    images = zip(("pdf", "png"), vega_print(spec, ppi), strict=True)
    return {name: b64encode(image).decode() for name, image in images}


def _serve() -> None:
    """Draw until there is nothing more to draw, or no one who asks."""
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    import vl_convert as vl_convert

    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        try:
            found = answer(*json.loads(line))
        except Exception as error:
            found = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(found).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        _serve()
