"""``warm``: compile all kernels at once."""

from __future__ import annotations

import typer

__all__ = ["warm"]


def warm() -> None:
    """Compile all kernels now, on all cores, and store them: no later question waits for a compiler.

    Small questions are answered without compiling, and others compile what they need, once per machine.

    Examples
    --------
    $ fairqueues warm
    """
    from fairqueues.kernels import KERNELS, compile_together, let_go

    compile_together(shown=None)
    let_go()
    typer.echo(f"{len(KERNELS)} groups of kernels are compiled and stored")
