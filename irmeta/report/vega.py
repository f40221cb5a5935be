"""Rendering of Vega-Lite specs, in this process or in a process that runs only this file.

The other process imports no other file of irmeta. Its first input line is Python's search path;
each further line is JSON: a spec, formats, and the pixels of a PNG. Each output line is JSON: the
images by format, PDF and PNG in base64; or an error.
"""

from __future__ import annotations

import html
import json
import re
import sys
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

READY = b"ready\n"
_TEXT = re.compile(r'(<text [^>]*font-size="([\d.]+)px"[^>]*>)(.*?)</text>', re.S)
_MARKUP = re.compile(r"([_^])\{([^{}]*)\}")
_TAG = re.compile("(<[^>]*>)")
_SMALL, _SHIFT = 0.75, {"_": 0.22, "^": -0.35}  # in sizes of the font


def vega_svg(spec: dict[str, Any]) -> str:
    """Render a Vega-Lite spec as SVG, without network access.

    Its ``usermeta`` may have ``scripts``: words such as ``AP_b`` and their markup, ``AP_{b}``.
    """
    import vl_convert

    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    scripts = spec.get("usermeta", {}).get("scripts")
    return _with_scripts(svg, scripts) if scripts else svg


def _with_scripts(svg: str, scripts: Mapping[str, str]) -> str:
    """Lower and raise the subscripts and superscripts of an image."""
    forms = {html.escape(word): html.escape(markup) for word, markup in scripts.items()}
    longest = sorted(map(re.escape, forms), key=len, reverse=True)
    words = re.compile(rf"(?<![\w-])({'|'.join(longest)})(?!\w)")

    def scripted(found: re.Match[str]) -> str:
        if words.search(found[3]) is None:
            return found[0]
        return f"{found[1]}{''.join(_spans(found[3], words, forms, float(found[2])))}</text>"

    return _TEXT.sub(scripted, svg)


def _spans(
    content: str, words: re.Pattern[str], forms: Mapping[str, str], size: float
) -> Iterator[str]:
    """Yield the content of a text element, its scripts as spans; `size` is that of the font."""
    below = 0.0  # pixels by which the next text would be below its line
    for part in _TAG.split(content):
        if part.startswith("<"):
            if below and (to_line := re.search(r' dy="([\d.]+)"', part)):
                part = part.replace(to_line[0], f' dy="{float(to_line[1]) - below:.4g}"')
                below = 0.0
            yield part
            continue
        for i, piece in enumerate(words.split(part)):
            for sign, text in _runs(forms[piece]) if i % 2 else [("", piece)]:
                down = _SHIFT.get(sign, 0.0) * size
                height = f' font-size="{_SMALL * size:.4g}px"' if sign else ""
                move = f' dy="{down - below:.4g}"' if text and down != below else ""
                yield f"<tspan{move}{height}>{text}</tspan>" if move else text
                below = down if text else below


def _runs(markup: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a word with their signs: of ``AP_{b}``, no sign and AP, _ and b."""
    plain, *others = _MARKUP.split(markup)
    yield "", plain
    for sign, script, after in zip(others[::3], others[1::3], others[2::3], strict=True):
        yield sign, script
        yield "", after


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
