"""Width of texts in Liberation Sans, Arial or Helvetica, which have the same widths."""

from __future__ import annotations

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
