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

__all__ = ["LINE", "prefetch"]

LINE = 64
"""Bytes that memory delivers at once."""

if getattr(numba.config, "DISABLE_JIT", 0):

    def prefetch(array: Any, index: int) -> None:
        """Do nothing: plain Python has no use for it."""

else:

    @intrinsic
    def prefetch(context: Any, array: Any, index: Any) -> Any:
        """Fetch the cache line of ``array[index]`` for reading; one index, no bounds check."""
        signature = types.void(array, index)

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            view = target.make_array(kind)(target, builder, arguments[0])
            item = cgutils.get_item_pointer(target, builder, kind, view, [arguments[1]])
            address = builder.bitcast(item, ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            called = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, called, "llvm.prefetch.p0")
            # For reading (0), to be kept in the second level of the cache (2), data (1).
            builder.call(function, [address, number(0), number(2), number(1)])
            return target.get_dummy_value()

        return signature, generate
