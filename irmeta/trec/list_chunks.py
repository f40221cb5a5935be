"""Text of a run in chunks of complete lists, which several threads can read."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.trec.rows import Stream

CHUNK = 1 << 19  # bytes; the names of its docs then fit into the cache of a core
LONGEST_LIST = 64 << 20  # bytes in memory to look for the end of a list


def list_chunks(stream: Stream) -> Iterator[bytes]:
    """Yield the text of a run in chunks that end where the query changes.

    A chunk has about `CHUNK` bytes, or one longer list. Lists of more than `LONGEST_LIST` bytes
    are cut.
    """
    rest, size = b"", CHUNK
    while True:
        buffer = bytearray(size)
        buffer[: len(rest)] = rest
        filled = _fill(stream, buffer, len(rest))
        if filled < size:
            if filled:
                yield bytes(memoryview(buffer)[:filled])
            return
        cut = _last_change(buffer)
        if not cut and size >= LONGEST_LIST:
            cut = size
        if cut:
            yield bytes(memoryview(buffer)[:cut])
        rest = bytes(memoryview(buffer)[cut:])
        size = min(max(CHUNK, 2 * len(rest)), LONGEST_LIST)


def _fill(stream: Stream, buffer: bytearray, filled: int) -> int:
    """Fill a buffer; return the number of its bytes, all unless the stream ends."""
    view = memoryview(buffer)
    while filled < len(buffer) and (count := stream.readinto(view[filled:])):
        filled += count
    return filled


def _last_change(text: bytearray) -> int:
    """Return the start of the last list that begins after the first line; 0 if there is none.

    The search halves the text, so it may return the start of an earlier list where the lists of
    a query are not adjacent.
    """
    end = text.rfind(b"\n")
    after = text.rfind(b"\n", 0, max(end, 0)) + 1
    before, query = 0, _query(text, after)
    if end < 0 or _query(text, before) == query:
        return 0
    while True:
        middle = (before + after) // 2
        line = text.rfind(b"\n", before, middle) + 1
        if line <= before:
            line = text.find(b"\n", middle, after) + 1
        if line in (0, after):
            return after
        if _query(text, line) == query:
            after = line
        else:
            before = line


def _query(text: bytearray, line: int) -> bytes:
    """Return the first field of the line that starts at an offset; empty for a blank line."""
    end = text.find(b"\n", line)
    fields = text[line : end if end >= 0 else None].split(None, 1)
    return bytes(fields[0]) if fields else b""
