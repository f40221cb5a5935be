"""Read .Z files of compress(1), such as the oldest runs of TREC's archive."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from irmeta.kernels.lzw import BLOCK, FREE, LAST, LONGEST, WIDEST, WIDTH, decode

_HEADER = 3  # bytes: two of the magic number, and the flags
_PIECE = LONGEST + (1 << 18)


class ZFile(io.RawIOBase):
    """Stream of the decompressed bytes of a .Z file, which is read into memory first."""

    def __init__(self, file: io.BufferedReader[Any]) -> None:
        content = bytearray(file.read())
        flags = content[_HEADER - 1] if len(content) >= _HEADER else 0
        if not 9 <= flags & 0x1F <= 16:
            raise ValueError("not a .Z file")
        self._data = np.frombuffer(content, np.uint8)[_HEADER:]
        self._state = np.zeros(8, np.int64)
        widest = max(10, flags & 0x1F)  # files that say 9 have codes of 10 bits
        self._state[[WIDTH, WIDEST, LAST]] = 9, widest, -1
        self._state[BLOCK] = flags >> 7
        self._state[FREE] = 256 + self._state[BLOCK]
        self._prefix = np.zeros(LONGEST + 1, np.int64)
        self._suffix, self._stack = np.zeros((2, LONGEST + 1), np.uint8)
        self._out = np.zeros(_PIECE, np.uint8)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Return whether the stream can be read: always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the start of a buffer; return the number of bytes, 0 at the end."""
        if not self._left:
            tables = self._state, self._prefix, self._suffix, self._stack
            written = decode(self._data, *tables, self._out)
            if written < 0:
                raise ValueError("impossible code in a .Z file")
            self._left = self._out.data[:written]
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._left))
        view[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
