"""The command ``fairqueues``: its commands, their examples, and one line for whatever goes wrong.

Exit codes: 0 done; 1 a check failed or a result missed its tolerance; 2 wrong use: of the command, of a file,
of a model; 130 interrupted by Ctrl-C.

The modules of the commands import what they compute with inside their functions, so that ``--help`` and shell
completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairness.display.lettering import printed, spelled
from fairqueues.commands.allocate import allocate
from fairqueues.commands.audit import audit
from fairqueues.commands.cloud import cloud
from fairqueues.commands.enclose import enclose
from fairqueues.commands.explain import explain
from fairqueues.commands.explore import explore
from fairqueues.commands.fluid import fluid
from fairqueues.commands.importing import import_files
from fairqueues.commands.prove import prove
from fairqueues.commands.provision import provision
from fairqueues.commands.rates import rates
from fairqueues.commands.region import region
from fairqueues.commands.replay import replay
from fairqueues.commands.simulate import simulate
from fairqueues.commands.solve import solve
from fairqueues.commands.sweep import sweep
from fairqueues.commands.texts import examples, schema, version
from fairqueues.commands.warm import warm
from fairqueues.console.options import documented
from fairqueues.console.progress import telling_of_kernels
from fairqueues.console.remedies import placed
from fairqueues.console.repository import bench, reproduce
from fairqueues.errors import FAILED, INTERRUPTED, WRONG_USE, WrongUse

__all__ = ["COMMANDS", "app", "main"]

COMMANDS: dict[str, Callable[..., None]] = {
    function.__name__.removesuffix("_files"): function
    for function in (
        allocate, explain, audit, solve, rates, enclose, simulate, replay, fluid, region, sweep, cloud, prove,
        provision, import_files, reproduce, bench, explore, examples, schema, warm, version,
    )
}  # fmt: skip
"""Commands in the order of the help text; ``import`` is a word of Python, so its function is no namesake."""


# typer brings click along, in some versions under a name of its own: its base class is asked for, not named.
_UsageError: Any = typer.BadParameter.__mro__[1]


@contextmanager
def exit_codes(command: str, context: Any = None) -> Iterator[None]:
    """Turn errors that were raised on purpose into one line and an exit code.

    Those that nobody raised on purpose keep their traceback; of those in a Python file that a person named,
    its line is told.

    ``context`` is that of the group, which knows the command that was called.
    """
    try:
        yield
    except _UsageError as error:
        context = error.ctx
        if context is None or error.__class__.__name__ == "NoArgsIsHelpError":
            raise
        path = context.command_path
        told = error.format_message().strip().rstrip(".")
        stop(f"{path}: {told} (see '{path} --help')", WRONG_USE)
    except KeyboardInterrupt as error:
        kept = "; ".join(getattr(error, "__notes__", ()))
        stop(f"{command}: interrupted" + (f"; {kept}" if kept else ""), INTERRUPTED)
    except MemoryError as error:
        stop(
            f"{command}: the memory that is free does not suffice ({error or 'no more is known'})", WRONG_USE
        )
    except Exception as error:
        code = _code(error)
        if code is None:
            files = sys.modules.get("fairqueues.scenario.python_files")
            if files is None or (own := files.in_own_file(error)) is None:
                raise
            told, code = own, WRONG_USE
        else:
            told = placed(str(error), getattr(context, "invoked_subcommand", None))
        stop(f"{command}: {told}", code)


def stop(message: str, code: int) -> None:
    """Write one line to standard error and leave."""
    typer.echo(printed(" ".join(message.split())), err=True)
    raise typer.Exit(code)


def _code(error: Exception) -> int | None:
    """Exit code of an error; None where it was not raised on purpose."""
    if isinstance(error, WrongUse):
        return WRONG_USE
    # Whoever raises one of these has loaded its module.
    raised = (
        ("fairness.errors", "NotConvergedError", FAILED),
        ("fairness.machine.work", "OutOfTime", FAILED),
        ("proofs.errors", "EvidenceError", FAILED),
        ("capacity.sweeping.sweep", "SweepInterrupted", FAILED),
        ("fairness.errors", "FairqueuesError", WRONG_USE),
        ("proofs.errors", "ProofError", WRONG_USE),
    )
    for module, name, code in raised:
        if isinstance(error, getattr(sys.modules.get(module), name, ())):
            return code
    return None


class _Group(TyperGroup):
    """Errors raised on purpose become one line and an exit code, in the shell and in tests alike."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        spelled(sys.stdout, sys.stderr)
        with exit_codes("fairqueues"):
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with exit_codes("fairqueues", ctx), telling_of_kernels():
            return super().invoke(ctx)


def _version(asked: bool) -> None:
    if asked:
        from fairqueues.version import __version__

        typer.echo(f"fairqueues {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


app = typer.Typer(
    name="fairqueues",
    cls=_Group,
    callback=_program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Fair sharing of several resources at once: who gets how much, what happens under random traffic, "
    "how much traffic fits.",
    epilog="Exit codes: 0 done, 1 a check failed or a result missed its tolerance, 2 wrong use.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _function in COMMANDS.items():
    _told, _example = documented(_function)
    # Given as such, since of a docstring the list of commands shows what fits a line, and an ellipsis.
    _short = _told.splitlines()[0]
    app.command(_name, help=_told, short_help=_short, epilog=f"\b\nExample:\n  {_example}")(_function)


def main() -> None:
    """Entry point."""
    app(prog_name="fairqueues")
