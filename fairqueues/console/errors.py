"""From what went wrong to one line on standard error and an exit code.

0 done; 1 a check failed or a result missed its tolerance; 2 wrong use: of the command, of a file, of a model;
130 interrupted by Ctrl-C. Errors that nobody raised on purpose keep their traceback; of those in a Python
file that a person named, its line is told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from fairness.display.lettering import printed
from fairqueues.console.remedies import placed
from fairqueues.errors import WrongUse

__all__ = ["FAILED", "INTERRUPTED", "WRONG_USE", "exit_codes"]

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130

# typer brings click along, in some versions under a name of its own: its base class is asked for, not named.
_UsageError: Any = typer.BadParameter.__mro__[1]


@contextmanager
def exit_codes(command: str, context: Any = None) -> Iterator[None]:
    """Turn errors that were raised on purpose into one line and an exit code.

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
    print(printed(" ".join(message.split())), file=sys.stderr)
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
