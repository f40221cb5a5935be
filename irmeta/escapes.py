"""Escaping of control and bidirectional characters, so that no name controls a terminal.

Tags, file names and docs may contain any character. Control characters set titles, fill the
clipboard or move the cursor of a terminal, and bidirectional characters reorder text.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

UNSAFE = "\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""The escaped characters, for a character class of a regular expression.

They are controls (Cc), lone surrogates (Cs), separators of lines and paragraphs (Zl, Zp), and
those of the Unicode property Bidi_Control.
"""

_UNSAFE = re.compile(f"[{UNSAFE}]")
_QUOTED = 200
"""Characters of a name or value that a message quotes."""
_MANY = f"{{{_QUOTED + 1},}}"
_LONG = re.compile(
    rf"(?<!\w)'[^'\n]{_MANY}'(?!\w)"  # in single quotes, as Python writes most texts
    rf'|(?<!\w)"[^"\n]{_MANY}"(?!\w)'
    rf"|\S{_MANY}"  # not in quotes, such as a path
)
# The user and password of an address; a number and a slash are a port and the path.
# Begins at the start of a word, and with bounds, so that its time is linear in the text.
_PASSWORD = re.compile(
    r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,30}:/+)[^/@\s:]{0,999}:(?!\d+/)[^@\s]{0,999}@"
)
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
# A backslash that looks like the start of an escape, or of an escaped backslash.
_BACKSLASH = re.compile(rf"\\(?=[\\xuUtnr{UNSAFE}])")


def escape_text(text: str, keep: str = "") -> str:
    """Write unsafe characters, without those in `keep`, as Python's string escapes, for messages.

    Escaping twice changes nothing: an escape reads as the same characters in the text.
    """
    return _UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def shorten_quoted(text: str) -> str:
    """Remove the middle of each long quoted text or word of a message; ends of paths differ."""
    half = _QUOTED // 2
    return _LONG.sub(lambda match: f"{match[0][:half]}...{match[0][-half:]}", text)


def hide_passwords(text: str) -> str:
    """Replace the user and password of addresses by dots, for messages."""
    return _PASSWORD.sub(r"\1...@", text)


def escape_name(name: str) -> str:
    r"""Write unsafe characters as Python's string escapes so that the name can be recovered.

    A backslash that would read as an escape is doubled: the name ``\x1b`` of four characters is
    written ``\\x1b``.
    """
    return escape_text(_BACKSLASH.sub(r"\\\\", name))


def escape_json(text: str) -> str:
    """Write unsafe characters of a JSON text as JSON escapes; its values stay the same."""
    escape = "\\u{:04x}".format
    return _UNSAFE.sub(lambda match: "\n" if match[0] == "\n" else escape(ord(match[0])), text)


def drop_unsafe(text: str) -> str:
    """Remove unsafe characters, for text where an escape would be typeset."""
    return _UNSAFE.sub("", text)


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print one escaped line to standard output or another stream."""
    (stream or sys.stdout).write(f"{escape_text(line)}\n")


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
