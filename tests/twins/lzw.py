"""Compress as compress(1) does: LZW codes in groups of eight, that grow from 9 bits."""

from __future__ import annotations

CLEAR = 256


def compress(data: bytes, widest: int = 16, clear_after: int = 0) -> bytes:
    """Return a .Z file whose table is emptied after each `clear_after` bytes, if any."""
    groups: list[tuple[int, list[int]]] = [(9, [])]
    since_clear = 0

    def put(code: int) -> None:
        nonlocal since_clear
        width, codes = groups[-1]
        codes.append(code)
        since_clear += 1
        if code == CLEAR:
            since_clear = 0
            groups.append((9, []))
        elif CLEAR + since_clear >= 1 << width and width < widest:
            groups.append((width + 1, []))
        elif len(codes) == 8:
            groups.append((width, []))

    table, pending = fresh(), b""
    for position, byte in enumerate(data):
        longer = pending + bytes([byte])
        if longer in table:
            pending = longer
        else:
            put(table[pending])
            if len(table) + 1 < 1 << widest:  # the code for clearing is no entry
                table[longer] = len(table) + 1
            pending = bytes([byte])
        if clear_after and position % clear_after == clear_after - 1:
            put(table[pending])
            put(CLEAR)
            table, pending = fresh(), b""
    if pending:
        put(table[pending])
    written = [packed(codes, width) for width, codes in groups]
    end = (sum(map(len, written[:-1]))) + (groups[-1][0] * len(groups[-1][1]) + 7) // 8
    return bytes([0x1F, 0x9D, 0x80 | widest]) + b"".join(written)[:end]


def fresh() -> dict[bytes, int]:
    """Return the codes of single bytes."""
    return {bytes([byte]): byte for byte in range(256)}


def packed(codes: list[int], width: int) -> bytes:
    """Return up to eight codes as a group; the rest of the group is zero."""
    bits = sum(code << (width * i) for i, code in enumerate(codes))
    return bits.to_bytes(width, "little") if codes else b""
