"""Texts of figures: widths of lines, and titles of as many lines as they need, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PER_MILLE = {
    "'": 191, "ijl\u2018\u2019": 222, "|": 260, " !,./:;I[\\]ft": 278, "()-`r{}": 333, '"': 355,
    "*": 389,
    "^": 469, "Jcksvxyz": 500, "+<=>~\u2212": 584, "FTZ": 611, "&ABEKPSVXY": 667, "CDHNRUw": 722,
    "GOQ": 778, "Mm": 833, "%": 889, "W": 944, "\u2014": 1000, "@": 1015,
}  # fmt: skip
_WIDTHS = {letter: width for letters, width in _PER_MILLE.items() for letter in letters}
_USUAL, _BOLD = 556, 1.08  # digits, most letters, the en dash; bold texts are wider


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text in pixels, bold texts about."""
    width = sum(_WIDTHS.get(letter, _USUAL) for letter in text) / 1000
    return width * size * (_BOLD if bold else 1.0)


def wrapped(text: str, size: float, room: float, bold: bool = False) -> list[str]:
    """Break a text between words into lines of at most `room` pixels, where its words allow it."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


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
