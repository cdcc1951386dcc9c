"""How numba compiles what kernels absorb: as far as it is absorbed, and no further.

What only kernels call is needed as code that they take in, never as code that runs. numba would optimise it
to the end and translate it for the machine, with all that it has taken in itself, and again in whoever takes
it in: half of the time that a kernel of many helpers takes. Here both are left to the kernel, which is
optimised as a whole.
"""

from __future__ import annotations

from typing import Any

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from fairness.machine.kernel_compiler import KernelCompiler

__all__ = ["AbsorbedCompiler"]


class _Absorbed(JITCodeLibrary):
    """The code of a function that is linked into others."""

    def _optimize_final_module(self) -> None:
        """Left to those."""

    def _finalize_final_module(self) -> None:
        """Done, without the engine, which would translate it."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _AbsorbedLowering(NativeLowering):
    """Lowers a function that nobody calls by its address."""

    _name = "absorbed_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower it."""
        state.library = _Absorbed(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        # Others find it by the object that would be called, here one without an address.
        description, name = lowered.fndesc, state.func_id.func_name
        entry = make_function(description.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(entry, description, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class AbsorbedCompiler(KernelCompiler):
    """The pipeline: that of nopython mode, with the other lowering."""

    def define_pipelines(self) -> list[Any]:
        """The only one."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (_AbsorbedLowering if one is NativeLowering else one, why) for one, why in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]
