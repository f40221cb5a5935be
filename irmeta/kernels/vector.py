"""Operations on 64 bytes at a time that numba lacks, in LLVM.

A place is an address, so that these few lines, and the helpers made of them, can be put into any
loop: an array that is handed over is counted, and that costs more than all of them. A mask reads 64
bytes from its place on and a word is 8, so arrays must be that much longer than their content.
tests/kernels/test_vector.py has plain twins.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE, _INT, _WORD, _TWO_WORDS = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_LANES = ir.VectorType(_BYTE, 64)


def _at(builder: Any, place: Any, to: ir.Type) -> Any:
    return builder.inttoptr(place, to.as_pointer())


def _all(value: int) -> ir.Constant:
    return ir.Constant(_LANES, [value] * 64)


def _address(typing: Any, array: Any) -> Any:
    """Return the address of an array's first byte, valid while the array is referenced."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.int64(array), generate


def _white_mask(typing: Any, place: Any) -> Any:
    r"""Set bit i of a uint64 if byte ``place + i`` is a space, \t, \n, \v, \f or \r."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _LANES)
        found = builder.load(place, align=1)
        is_space = builder.icmp_unsigned("==", found, _all(0x20))
        is_control = builder.icmp_unsigned("<=", builder.sub(found, _all(9)), _all(4))
        return builder.bitcast(builder.or_(is_space, is_control), _WORD)

    return types.uint64(types.int64), generate


def _newline_mask(typing: Any, place: Any) -> Any:
    r"""Set bit i of a uint64 if byte ``place + i`` is \n."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _LANES)
        found = builder.icmp_unsigned("==", builder.load(place, align=1), _all(0x0A))
        return builder.bitcast(found, _WORD)

    return types.uint64(types.int64), generate


def _odd_mask(typing: Any, place: Any) -> Any:
    """Set bit i of a uint64 if byte ``place + i`` is NUL or not ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _LANES)
        found = builder.load(place, align=1)
        is_odd = builder.icmp_unsigned(">=", builder.sub(found, _all(1)), _all(0x7F))
        return builder.bitcast(is_odd, _WORD)

    return types.uint64(types.int64), generate


def _load_byte(typing: Any, place: Any) -> Any:
    """Load a byte as an int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.load(_at(builder, args[0], _BYTE)), _WORD)

    return types.int64(types.int64), generate


def _load_int(typing: Any, place: Any) -> Any:
    """Load an int32 from the four bytes at `place` as an int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_at(builder, args[0], _INT), align=1)
        return builder.sext(found, _WORD)

    return types.int64(types.int64), generate


def _load_word(typing: Any, place: Any) -> Any:
    """Load a uint64 from the eight bytes at `place`, little-endian."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _WORD)
        return builder.load(place, align=1)

    return types.uint64(types.int64), generate


def _store_word(typing: Any, place: Any, word: Any) -> Any:
    """Store a uint64 in the eight bytes at `place`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _WORD)
        builder.store(args[1], place, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), generate


def _trailing_zeros(typing: Any, word: Any) -> Any:
    """Count the bits of a uint64 below the lowest 1; 64 for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _leading_zeros(typing: Any, word: Any) -> Any:
    """Count the bits of a uint64 above the highest 1; 64 for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _high_product(typing: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 of the 128 bits of the product of two uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = [builder.zext(arg, _TWO_WORDS) for arg in args]
        high = builder.lshr(builder.mul(*wide), ir.Constant(_TWO_WORDS, 64))
        return builder.trunc(high, _WORD)

    return types.uint64(types.uint64, types.uint64), generate


def _as_float(typing: Any, word: Any) -> Any:
    """Reinterpret the bits of a uint64 as a float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


def _prefetch(typing: Any, place: Any) -> Any:
    """Prefetch the cache line of the byte at `place`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(builder, args[0], _BYTE)
        kind = ir.FunctionType(ir.VoidType(), [place.type, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # To read, and to keep in every cache, as data.
        builder.call(function, [place, *(ir.Constant(_INT, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.int64), generate


# numba calls them with the arguments that follow `typing`.
address: Any = intrinsic(_address)
white_mask: Any = intrinsic(_white_mask)
newline_mask: Any = intrinsic(_newline_mask)
odd_mask: Any = intrinsic(_odd_mask)
load_byte: Any = intrinsic(_load_byte)
load_int: Any = intrinsic(_load_int)
load_word: Any = intrinsic(_load_word)
store_word: Any = intrinsic(_store_word)
trailing_zeros: Any = intrinsic(_trailing_zeros)
leading_zeros: Any = intrinsic(_leading_zeros)
high_product: Any = intrinsic(_high_product)
as_float: Any = intrinsic(_as_float)
prefetch: Any = intrinsic(_prefetch)
