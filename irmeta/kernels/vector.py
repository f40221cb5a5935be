"""Operations on 64 bytes at a time that numba lacks, in LLVM.

Arguments are addresses, because passing an array counts references, which took two thirds of the
time of reading runs. A mask reads 64 bytes at its address and a word has 8, so arrays must be
longer than their content by as many bytes.
tests/kernels/test_vector.py has plain twins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE, _INT, _WORD, _TWO_WORDS = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_LANES = ir.VectorType(_BYTE, 64)


def _at(builder: Any, pointer: Any, to: ir.Type) -> Any:
    return builder.inttoptr(pointer, to.as_pointer())


def _all(value: int) -> ir.Constant:
    return ir.Constant(_LANES, [value] * 64)


def emitted(result: types.Type, *parameters: types.Type) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function of kernels by the instructions that a builder emits for its arguments.

    Kernels call the function with the arguments that follow `builder`. It returns the emitted
    value, or None if `result` is void.
    """

    def declare(emit: Callable[..., Any]) -> Any:
        @wraps(emit)  # numba reads the names of the arguments
        def typed(typing: Any, *arguments: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                value = emit(builder, *args)
                return context.get_dummy_value() if value is None else value

            return result(*parameters), generate

        return intrinsic(typed)

    return declare


def _address(typing: Any, array: Any) -> Any:
    """Return the address of an array's first byte, valid while the array is referenced."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.int64(array), generate


address: Any = intrinsic(_address)  # called with the arguments that follow `typing`


@emitted(types.uint64, types.int64)
def white_mask(builder: Any, pointer: Any) -> Any:
    r"""Set bit i of a uint64 if byte ``pointer + i`` is a space, \t, \n, \v, \f or \r."""
    loaded = builder.load(_at(builder, pointer, _LANES), align=1)
    is_space = builder.icmp_unsigned("==", loaded, _all(0x20))
    is_control = builder.icmp_unsigned("<=", builder.sub(loaded, _all(9)), _all(4))
    return builder.bitcast(builder.or_(is_space, is_control), _WORD)


@emitted(types.uint64, types.int64)
def newline_mask(builder: Any, pointer: Any) -> Any:
    r"""Set bit i of a uint64 if byte ``pointer + i`` is \n."""
    loaded = builder.load(_at(builder, pointer, _LANES), align=1)
    return builder.bitcast(builder.icmp_unsigned("==", loaded, _all(0x0A)), _WORD)


@emitted(types.uint64, types.int64)
def odd_mask(builder: Any, pointer: Any) -> Any:
    """Set bit i of a uint64 if byte ``pointer + i`` is NUL or not ASCII."""
    loaded = builder.load(_at(builder, pointer, _LANES), align=1)
    is_odd = builder.icmp_unsigned(">=", builder.sub(loaded, _all(1)), _all(0x7F))
    return builder.bitcast(is_odd, _WORD)


@emitted(types.int64, types.int64)
def load_byte(builder: Any, pointer: Any) -> Any:
    """Load a byte as an int64."""
    return builder.zext(builder.load(_at(builder, pointer, _BYTE)), _WORD)


@emitted(types.int64, types.int64)
def load_int(builder: Any, pointer: Any) -> Any:
    """Load an int32 from the four bytes at `pointer` as an int64."""
    return builder.sext(builder.load(_at(builder, pointer, _INT), align=1), _WORD)


@emitted(types.uint64, types.int64)
def load_word(builder: Any, pointer: Any) -> Any:
    """Load a uint64 from the eight bytes at `pointer`, little-endian."""
    return builder.load(_at(builder, pointer, _WORD), align=1)


@emitted(types.void, types.int64, types.uint64)
def store_word(builder: Any, pointer: Any, word: Any) -> None:
    """Store a uint64 in the eight bytes at `pointer`."""
    builder.store(word, _at(builder, pointer, _WORD), align=1)


@emitted(types.int64, types.uint64)
def trailing_zeros(builder: Any, word: Any) -> Any:
    """Count the bits of a uint64 below the lowest 1; 64 for 0."""
    return builder.cttz(word, ir.Constant(ir.IntType(1), 0))


@emitted(types.int64, types.uint64)
def leading_zeros(builder: Any, word: Any) -> Any:
    """Count the bits of a uint64 above the highest 1; 64 for 0."""
    return builder.ctlz(word, ir.Constant(ir.IntType(1), 0))


@emitted(types.uint64, types.uint64, types.uint64)
def high_product(builder: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 of the 128 bits of the product of two uint64."""
    product = builder.mul(builder.zext(a, _TWO_WORDS), builder.zext(b, _TWO_WORDS))
    return builder.trunc(builder.lshr(product, ir.Constant(_TWO_WORDS, 64)), _WORD)


@emitted(types.float64, types.uint64)
def as_float(builder: Any, word: Any) -> Any:
    """Reinterpret the bits of a uint64 as a float64."""
    return builder.bitcast(word, ir.DoubleType())


@emitted(types.void, types.int64)
def prefetch(builder: Any, pointer: Any) -> None:
    """Prefetch the cache line of the byte at `pointer`."""
    byte = _at(builder, pointer, _BYTE)
    kind = ir.FunctionType(ir.VoidType(), [byte.type, _INT, _INT, _INT])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # For reading, into all levels of the data cache.
    builder.call(function, [byte, *(ir.Constant(_INT, n) for n in (0, 3, 1))])
