"""Ask the processor to fetch memory that will be needed soon.

Rows of a large sparse matrix that are visited in random order come from main memory, and the next row
cannot be asked for before the loop over the present one has ended. A prefetch asks and does not wait; it
has no effect on any result. (Kernels that call it keep their compiled form when this file changes; that is
harmless.)
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["LINE", "prefetch", "prefetch_row"]

LINE = 64
"""Bytes that memory delivers at once."""

if getattr(numba.config, "DISABLE_JIT", 0):

    def prefetch(array: Any, index: int) -> None:
        """Do nothing: plain Python has no use for it."""

    prefetch_row = prefetch

else:

    def _fetch(context: Any, builder: Any, kind: Any, array: Any, indices: list[Any]) -> Any:
        view = context.make_array(kind)(context, builder, array)
        item = cgutils.get_item_pointer(context, builder, kind, view, indices)
        address = builder.bitcast(item, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        called = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, called, "llvm.prefetch.p0")
        # For reading (0), to be kept in the second level of the cache (2), data (1).
        builder.call(function, [address, number(0), number(2), number(1)])
        return context.get_dummy_value()

    @intrinsic
    def prefetch(context: Any, array: Any, index: Any) -> Any:
        """Fetch the cache line of ``array[index]`` for reading; one index, no bounds check."""

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _fetch(target, builder, signature.args[0], arguments[0], [arguments[1]])

        return types.void(array, index), generate

    @intrinsic
    def prefetch_row(context: Any, array: Any, row: Any) -> Any:
        """Fetch the cache line of ``array[row, 0]`` for reading, as :func:`prefetch`."""

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            indices = [builder.sext(arguments[1], ir.IntType(64)), ir.IntType(64)(0)]
            return _fetch(target, builder, signature.args[0], arguments[0], indices)

        return types.void(array, types.int32), generate
