"""Sixty-four bytes at a time: what numba has no words for, as a few lines of LLVM.

Every function reads or writes beyond the place that it is given: 64 bytes for masks, 8 for words.
The arrays must be that much longer than their content. tests/kernels/test_vector.py has plain
twins.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_LANES = ir.VectorType(_BYTE, 64)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, offset: Any, to: ir.Type) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    place = builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [offset])
    return builder.bitcast(place, to.as_pointer())


def _all(value: int) -> ir.Constant:
    return ir.Constant(_LANES, [value] * 64)


def _white_mask(typing: Any, array: Any, offset: Any) -> Any:
    """Bit i of a uint64: whether byte ``offset + i`` is a space, \\t, \\n, \\v, \\f or \\r."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0], args[1], _LANES)
        found = builder.load(place, align=1)
        is_space = builder.icmp_unsigned("==", found, _all(0x20))
        is_control = builder.icmp_unsigned("<=", builder.sub(found, _all(9)), _all(4))
        return builder.bitcast(builder.or_(is_space, is_control), _WORD)

    return types.uint64(array, types.int64), generate


def _newline_mask(typing: Any, array: Any, offset: Any) -> Any:
    """Bit i of a uint64: whether byte ``offset + i`` is \\n."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0], args[1], _LANES)
        found = builder.icmp_unsigned("==", builder.load(place, align=1), _all(0x0A))
        return builder.bitcast(found, _WORD)

    return types.uint64(array, types.int64), generate


def _load_word(typing: Any, array: Any, offset: Any) -> Any:
    """Eight bytes from ``offset`` as a uint64, the first the least significant."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0], args[1], _WORD)
        return builder.load(place, align=1)

    return types.uint64(array, types.int64), generate


def _store_word(typing: Any, array: Any, offset: Any, word: Any) -> Any:
    """Put a uint64 into the eight bytes from ``offset``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0], args[1], _WORD)
        builder.store(args[2], place, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


def _trailing_zeros(typing: Any, word: Any) -> Any:
    """How many of a uint64's bits are 0 before the lowest 1; undefined for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


# numba calls them with the arguments that follow `typing`.
white_mask: Any = intrinsic(_white_mask)
newline_mask: Any = intrinsic(_newline_mask)
load_word: Any = intrinsic(_load_word)
store_word: Any = intrinsic(_store_word)
trailing_zeros: Any = intrinsic(_trailing_zeros)
