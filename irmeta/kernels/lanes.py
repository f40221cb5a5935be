"""Operations on vectors of systems in LLVM, faster than numba's loops.

Plain loops over all pairs of systems make 0.9 G comparisons/s. These make 57 to 70 G/s of 16-bit
ranks and 32 to 35 G/s of 32-bit ranks on one core with AVX-512, about half of what its inner loop
makes on data in the first cache: most lists fit 16 bits (benchmarks/bench_kernels.py).

Processors without AVX-512 have 16 registers of 256 bits, and sums that do not fit them are stored
and loaded at every row: vectors are shorter there, and fewer systems are compared at once (with
AVX2, 129 systems 1.2 to 1.5 times as fast; 2,000 systems of 32-bit ranks 0.7 times).
tests/kernels/test_vector.py has plain twins.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from irmeta.kernels.vector import emitted


def _has_avx512() -> bool:
    try:
        return llvmlite.binding.get_host_cpu_features().get("avx512bw", False)
    except RuntimeError:  # LLVM does not know the features of this platform
        return False


_IS_WIDE = _has_avx512()
BITS = 512 if _IS_WIDE else 256
STEPS = 16 if _IS_WIDE else 8
"""Number of following systems that `add_signs` compares at once. Their sums are in registers, of
which AVX-512 has 32: 8 steps are 6 % slower there, as near ranks are loaded twice as often; 20 gain
2 %.
"""
WEIGHTED_STEPS = 4 if _IS_WIDE else 2
"""Number of following systems that `add_weighted_signs` compares at once. Sums of float64 take four
registers for 16-bit ranks.
"""

_INDEX, _COUNT = ir.IntType(64), ir.IntType(32)


def _lane_count(typing: Any, array: Any) -> Any:
    """Return the number of elements of the array's dtype in a vector, a compile-time constant."""
    count = BITS // array.dtype.bitwidth

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(_INDEX, count)

    return types.int64(array), generate


@emitted(types.float64, types.float64, types.float64, types.float64)
def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Compute ``a * b + c`` of float64, rounded once."""
    return builder.fma(a, b, c)


def _copy_lanes(typing: Any, source: Any, at: Any, to: Any, offset: Any) -> Any:
    """Copy a vector of numbers from ``source[at:]`` to ``to[offset:]``, of the same dtype."""
    vector = ir.VectorType(ir.IntType(source.dtype.bitwidth), BITS // source.dtype.bitwidth)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = []
        for array in (0, 2):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            pointer = builder.gep(data, [args[array + 1]])
            pointers.append(builder.bitcast(pointer, vector.as_pointer()))
        align = source.dtype.bitwidth // 8
        builder.store(builder.load(pointers[0], align=align), pointers[1], align=align)
        return context.get_dummy_value()

    return types.void(source, types.int64, to, types.int64), generate


def _add_signs(
    typing: Any,
    blocks: Any,
    near: Any,
    far: Any,
    first: Any,
    stop: Any,
    shift: Any,
    counts: Any,
    at: Any,
) -> Any:
    """Count the rows where a near rank is above a far rank, minus those below, for each step.

    Adds to ``counts[at + step, lane]``, int32, the signs of the differences of two ranks.
    """
    # They are ``blocks[far, row, shift + step + lane] - blocks[near, row, lane]``, summed over the
    # rows ``first:stop``, for the steps below `STEPS`.
    # `blocks` is uint16 or uint32 [blocks, rows, 2 * lanes], C order. A lane of its type holds the
    # sum of the signs of at most 2^15 - 1 rows, or 2^31 - 1.
    bits = blocks.dtype.bitwidth
    count = BITS // bits
    vector = ir.VectorType(ir.IntType(bits), count)
    wide = ir.VectorType(_COUNT, count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, args[0])
        rows = builder.extract_value(held.shape, 1)
        _, near, far, first, stop, shift, _, at = args
        call = _caller(builder, vector)

        def load(block: Any, row: Any, column: Any) -> Any:
            index = builder.add(builder.mul(block, rows), row)
            index = builder.add(builder.mul(index, ir.Constant(_INDEX, 2 * count)), column)
            pointer = builder.bitcast(builder.gep(held.data, [index]), vector.as_pointer())
            return builder.load(pointer, align=bits // 8)

        entry = builder.block
        head = builder.append_basic_block("rows")
        body = builder.append_basic_block("row")
        end = builder.append_basic_block("end")
        builder.branch(head)
        builder.position_at_end(head)
        row = builder.phi(_INDEX)
        row.add_incoming(first, entry)
        sums = [builder.phi(vector) for _ in range(STEPS + 1)]
        for one in sums:
            one.add_incoming(ir.Constant(vector, [0] * count), entry)
        builder.cbranch(builder.icmp_signed("<", row, stop), body, end)

        # A far rank clamped to the near rank plus and minus 1 equals the near rank plus the sign.
        # Clamping and adding take three instructions, two comparisons four. All sums wrap around
        # equally, and the sum of near ranks is subtracted at the end.
        builder.position_at_end(body)
        x = load(near, row, ir.Constant(_INDEX, 0))
        ones = ir.Constant(vector, [1] * count)
        low, high = call("usub.sat", x, ones), call("uadd.sat", x, ones)
        for step in range(STEPS):
            y = load(far, row, builder.add(shift, ir.Constant(_INDEX, step)))
            clamped = call("umin", call("umax", y, low), high)
            sums[step].add_incoming(builder.add(sums[step], clamped), body)
        sums[STEPS].add_incoming(builder.add(sums[STEPS], x), body)
        row.add_incoming(builder.add(row, ir.Constant(_INDEX, 1)), body)
        builder.branch(head)

        builder.position_at_end(end)
        out = context.make_array(signature.args[6])(context, builder, args[6]).data
        for step in range(STEPS):
            slot = builder.add(at, ir.Constant(_INDEX, step))
            slot = builder.gep(out, [builder.mul(slot, ir.Constant(_INDEX, count))])
            slot = builder.bitcast(slot, wide.as_pointer())
            totals = builder.sub(sums[step], sums[STEPS])
            totals = builder.sext(totals, wide) if bits < 32 else totals
            builder.store(builder.add(builder.load(slot, align=4), totals), slot, align=4)
        return context.get_dummy_value()

    index = types.int64
    return types.void(blocks, index, index, index, index, index, counts, index), generate


def _add_weighted_signs(
    typing: Any,
    blocks: Any,
    near: Any,
    far: Any,
    first: Any,
    stop: Any,
    shift: Any,
    weights: Any,
    sums: Any,
) -> Any:
    """Write the sums of the signs of `add_signs`, each times the weight of its row.

    ``sums[step, lane]`` is float64 [WEIGHTED_STEPS, lanes]; rows are added in order.
    """
    bits = blocks.dtype.bitwidth
    count = BITS // bits
    vector = ir.VectorType(ir.IntType(bits), count)
    wide = ir.VectorType(ir.DoubleType(), count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held, weight, out = (
            context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 6, 7)
        )
        rows = builder.extract_value(held.shape, 1)
        _, near, far, first, stop, shift, _, _ = args

        def load(block: Any, row: Any, column: Any) -> Any:
            index = builder.add(builder.mul(block, rows), row)
            index = builder.add(builder.mul(index, ir.Constant(_INDEX, 2 * count)), column)
            pointer = builder.bitcast(builder.gep(held.data, [index]), vector.as_pointer())
            return builder.load(pointer, align=bits // 8)

        entry = builder.block
        head = builder.append_basic_block("rows")
        body = builder.append_basic_block("row")
        end = builder.append_basic_block("end")
        builder.branch(head)
        builder.position_at_end(head)
        row = builder.phi(_INDEX)
        row.add_incoming(first, entry)
        totals = [builder.phi(wide) for _ in range(WEIGHTED_STEPS)]
        for one in totals:
            one.add_incoming(ir.Constant(wide, [0.0] * count), entry)
        builder.cbranch(builder.icmp_signed("<", row, stop), body, end)

        # Two selected sums become additions under a mask, one instruction for eight systems.
        builder.position_at_end(body)
        x = load(near, row, ir.Constant(_INDEX, 0))
        one_weight = builder.load(builder.gep(weight.data, [row]))
        lanes = builder.insert_element(
            ir.Constant(wide, ir.Undefined), one_weight, ir.Constant(_COUNT, 0)
        )
        spread = ir.Constant(ir.VectorType(_COUNT, count), [0] * count)
        lanes = builder.shuffle_vector(lanes, ir.Constant(wide, ir.Undefined), spread)
        for step, total in enumerate(totals):
            y = load(far, row, builder.add(shift, ir.Constant(_INDEX, step)))
            won = builder.select(
                builder.icmp_unsigned("<", x, y), builder.fadd(total, lanes), total
            )
            lost = builder.select(builder.icmp_unsigned(">", x, y), builder.fsub(won, lanes), won)
            total.add_incoming(lost, body)
        row.add_incoming(builder.add(row, ir.Constant(_INDEX, 1)), body)
        builder.branch(head)

        builder.position_at_end(end)
        for step, total in enumerate(totals):
            slot = builder.gep(out.data, [ir.Constant(_INDEX, step * count)])
            builder.store(total, builder.bitcast(slot, wide.as_pointer()), align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(blocks, index, index, index, index, index, weights, sums), generate


def _caller(builder: Any, vector: ir.VectorType) -> Any:
    """Return a function that calls LLVM intrinsics of two vectors by name."""

    def call(name: str, *args: Any) -> Any:
        module = builder.module
        kind = ir.FunctionType(vector, [vector, vector])
        full = f"llvm.{name}.v{vector.count}i{vector.element.width}"
        declared = module.globals.get(full) or ir.Function(module, kind, full)
        return builder.call(declared, args)

    return call


# numba calls them with the arguments that follow `typing`.
lane_count: Any = intrinsic(_lane_count)
copy_lanes: Any = intrinsic(_copy_lanes)
add_signs: Any = intrinsic(_add_signs)
add_weighted_signs: Any = intrinsic(_add_weighted_signs)
