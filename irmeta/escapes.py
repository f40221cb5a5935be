"""Control and bidirectional characters as visible escapes: no name may command a terminal.

A tag, a file name or a doc may hold any character. Terminals obey control characters (they set
titles, fill the clipboard, move the cursor), and bidirectional ones show a text in another order.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

UNSAFE = "\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""The characters that are escaped, for a class of a regular expression.

They are controls (Cc), lone surrogates (Cs), separators of lines and paragraphs (Zl, Zp), and
those of the Unicode property Bidi_Control.
"""

_UNSAFE = re.compile(f"[{UNSAFE}]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
# A backslash that would read as the start of one of our escapes, or of an escaped backslash.
_BACKSLASH = re.compile(rf"\\(?=[\\xuUtnr{UNSAFE}])")


def escape_text(text: str, keep: str = "") -> str:
    """Write unsafe characters as Python's string escapes, for messages.

    Escaping twice changes nothing. What is escaped cannot be told from the same escape in the text:
    see `escape_name`.

    Parameters
    ----------
    keep
        Characters that stay as they are, such as the ends of lines of a longer text.
    """
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def escape_name(name: str) -> str:
    r"""Write unsafe characters as Python's string escapes so that the name can be recovered.

    A backslash that would read as an escape is doubled: the name ``\x1b`` of four characters is
    written ``\\x1b``.
    """
    return escape_text(_BACKSLASH.sub(r"\\\\", name))


def escape_json(text: str) -> str:
    """Write the unsafe characters in strings of a JSON text as JSON escapes: the same values."""
    escape = "\\u{:04x}".format
    return _UNSAFE.sub(lambda found: "\n" if found[0] == "\n" else escape(ord(found[0])), text)


def drop_unsafe(text: str) -> str:
    """Leave unsafe characters out, where an escape would be typeset."""
    return _UNSAFE.sub("", text)


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print one line for a person, to standard output or another stream."""
    (stream or sys.stdout).write(f"{escape_text(line)}\n")


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
