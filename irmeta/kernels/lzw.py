"""Decode LZW codes as compress(1) writes them to .Z files.

Codes have 9 bits at first and one bit more whenever the table is full, up to the width that the
file names. They are written in groups of eight; where the width changes, the rest of a group is
unused.
"""

from irmeta.kernels.jit import Array, Int, inner, jit

CLEAR = 256  # in block mode, the code that empties the table
LONGEST = 1 << 16  # bytes of one code
# Indices into `state`; WIDTH is at most WIDEST, START is where the current groups begin, in bits
AT, START, WIDTH, WIDEST, FREE, LAST, FIRST_BYTE, BLOCK = range(8)
DAMAGED = -1


@inner
def _skip_group(state, width):
    """Go to the end of a group of eight codes, and read codes of another width from there."""
    group = 8 * state[WIDTH]
    state[AT] = state[START] + (state[AT] - state[START] + group - 1) // group * group
    state[START], state[WIDTH] = state[AT], width


@inner
def _next_code(data, state):
    """Return the next code, -1 at the end of the data."""
    at, width = state[AT], state[WIDTH]
    if at + width > 8 * len(data):
        return -1
    bits = 0
    for i in range((at + width + 7) // 8 - at // 8):
        bits |= int(data[at // 8 + i]) << (8 * i)
    state[AT] = at + width
    return bits >> (at % 8) & ((1 << width) - 1)


@inner
def _write_code(code, state, prefix, suffix, stack, out, written):
    """Append the bytes of a code; return the new length of the output, `DAMAGED` without such."""
    depth = 0
    if code >= state[FREE]:  # the code that this one is about to add
        if code > state[FREE]:
            return DAMAGED
        stack[0], depth, code = state[FIRST_BYTE], 1, state[LAST]
    while code >= CLEAR:
        stack[depth], code = suffix[code], prefix[code]
        depth += 1
    state[FIRST_BYTE] = out[written] = code
    for i in range(depth):
        out[written + 1 + i] = stack[depth - 1 - i]
    return written + 1 + depth


@jit
def decode(
    data: Array, state: Array, prefix: Array, suffix: Array, stack: Array, out: Array
) -> Int:
    """Decode until the data end or `out` has less room than one code may need.

    `data`: uint8: the codes, without the file's header of three bytes. `state`: int64, kept between
    calls. At first, AT and START are 0, WIDTH is 9, LAST is -1, FREE is the first code to assign:
    257 in block mode, else 256. `prefix`, `suffix`, `stack`: int64, uint8 and uint8 of `LONGEST` +
    1 items, kept between calls. `out`: uint8 of more than `LONGEST` + 1 items. Returns the number
    of bytes written, 0 at the end; `DAMAGED` at an impossible code.
    """
    written = 0
    while written + LONGEST < len(out):
        if state[FREE] >= 1 << state[WIDTH] and state[WIDTH] < state[WIDEST]:
            _skip_group(state, state[WIDTH] + 1)
        code = _next_code(data, state)
        if code < 0:
            break
        if code == CLEAR and state[BLOCK] and state[LAST] >= 0:
            state[FREE] = CLEAR  # the next code assigns this one, which is never used
            _skip_group(state, 9)
            continue
        if state[LAST] < 0 and code >= CLEAR:
            return DAMAGED
        written = _write_code(code, state, prefix, suffix, stack, out, written)
        if written < 0:
            return DAMAGED
        if state[LAST] >= 0 and state[FREE] < 1 << state[WIDEST]:
            prefix[state[FREE]], suffix[state[FREE]] = state[LAST], state[FIRST_BYTE]
            state[FREE] += 1
        state[LAST] = code
    return written
