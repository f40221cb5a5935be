"""Titles of figures: as many lines as they need, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irmeta.report.text_width import wrapped

Spec = dict[str, Any]
ROOM = 0.95  # of the width; other fonts, and browsers that round the widths of letters, need more


def subtitle_of(spec: Mapping[str, Any]) -> str:
    """Return the subtitle of a figure from its spec, as one line."""
    title = spec.get("title", {})
    return _one_line(title.get("subtitle", ""))


def without_titles(spec: Spec) -> Spec:
    """Return a spec without title and subtitle, which a caption replaces.

    The headings of panes remain, and a screen reader still reads the titles.
    """
    return {name: value for name, value in spec.items() if name != "title"}


def wrap_titles(spec: Spec, width: int) -> Spec:
    """Return a spec whose titles, and headings of panes, are broken where the width needs it."""
    style = spec.get("config", {}).get("title", {})
    title = spec.get("title")
    if isinstance(title, dict) and {"fontSize", "subtitleFontSize"} <= style.keys():
        sizes = {"text": style["fontSize"], "subtitle": style["subtitleFontSize"]}
        broken = {
            name: _in_lines(title[name], size, ROOM * width, bold=name == "text")
            for name, size in sizes.items()
            if name in title
        }
        spec = spec | {"title": title | broken}
    if "concat" in spec:
        spec = spec | {"concat": [_with_wrapped_heading(pane) for pane in spec["concat"]]}
    return spec


def _with_wrapped_heading(pane: Spec) -> Spec:
    title = pane.get("title")
    if not isinstance(title, dict) or not {"text", "fontSize", "dx"} <= title.keys():
        return pane
    room = pane["width"] - title["dx"]  # a heading starts to the left of its pane
    text = _in_lines(title["text"], title["fontSize"], room, bold=True)
    return pane | {"title": title | {"text": text}}


def _in_lines(text: str | list[str], size: float, room: float, *, bold: bool) -> str | list[str]:
    lines = wrapped(_one_line(text), size, room, bold)
    return lines if len(lines) > 1 else lines[0]


def _one_line(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)
