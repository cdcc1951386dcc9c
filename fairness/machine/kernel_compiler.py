"""numba's compiler, with options that are compared in no time.

For each call in each kernel numba looks up what it knows of the function for these types and these options.
Its options have all one hash, and are compared value by value, the fifty that nobody has set included: a
fifth of the time in which kernels are compiled. Here the few that were set are compared.
"""

from __future__ import annotations

from typing import Any

from numba.core.compiler import Compiler, Flags

__all__ = ["KernelCompiler"]


class _Options(Flags):
    """Those of one kernel, or of what it absorbs."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """What was set: numba compares and hashes these."""
        return dict(self._values)


class KernelCompiler(Compiler):
    """The pipeline of nopython mode."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, variables: Any
    ) -> None:
        super().__init__(typing, target, library, args, return_type, _Options(flags), variables)
