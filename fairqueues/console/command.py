"""The shape of a command that has a result: what it reads, what it runs and what it delivers.

The options that commands share stand in one table here, and come to a command through its :class:`Call`.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairness.display.tables import Columns
from fairqueues.console.inputs import read
from fairqueues.console.options import OUTPUT, SHARED
from fairqueues.console.output import Delivery
from fairqueues.console.progress import listening, reached
from fairqueues.report.outcome import Evidence, Outcome

if TYPE_CHECKING:
    import pandas as pd

    from fairqueues.scenario import Scenario

__all__ = ["Call", "command", "stacked"]


class Call:
    """One call of a command.

    Attributes
    ----------
    name : str
        Of the command.
    to : Delivery
        Where the result goes.
    scenario : Scenario or None
        What :meth:`read` has read.
    failures : tuple of str
        What kept any run from its precision.
    """

    def __init__(self, name: str, to: Delivery, given: Mapping[str, Any]) -> None:
        self.name, self.to, self._given = name, to, given
        self.scenario: Scenario | None = None
        self.failures: tuple[str, ...] = ()

    def read(self, file: Path, *, fitted: bool = True) -> Scenario:
        """The scenario of a file; WrongUse if the command would write over one that the scenario reads.

        What a system that was ``fitted`` to a record leaves out of it is told on standard error.
        """
        scenario = self.scenario = read(file)
        self.to.require_spared(scenario.place.files)
        if fitted and scenario.fit is not None and scenario.fit.bursts:
            typer.echo(f"note: {scenario.fit.bursts}", err=True)
        return scenario

    @property
    def known_seed(self) -> int | None:
        """Seed of the option, else of the file; None without a file."""
        given: int | None = self._given["seed"]
        return self.scenario.seed if given is None and self.scenario is not None else given

    @cached_property
    def seed(self) -> int:
        """That seed, else a fresh one, which the output tells."""
        return secrets.randbits(32) if self.known_seed is None else self.known_seed

    @property
    def jobs(self) -> int:
        """Workers that were asked for."""
        return int(self._given["jobs"])

    def workers(self) -> AbstractContextManager[int | None]:
        """Have joblib ask the backend, as :func:`~fairqueues.console.backends.workers` does."""
        from fairqueues.console.backends import workers

        return workers(self._given["backend"], self.jobs)

    def run(self, runs: Mapping[str, Callable[[], Any]], **told: Any) -> dict[str, Any]:
        """Results by name, as :func:`~fairqueues.console.progress.reached` gives them, within the time."""
        results, failures = reached(runs, self.name, time_limit=self._given.get("time_limit"), **told)
        self.failures += failures
        return results

    def deliver(
        self,
        what: str,
        table: pd.DataFrame | Columns,
        evidence: Iterable[Evidence] = (),
        *,
        notes: Iterable[str] = (),
        failures: Iterable[str] = (),
        **more: Any,
    ) -> None:
        """Deliver an :class:`~fairqueues.report.outcome.Outcome`; its title says what, of which scenario."""
        title, text = what, ""
        if self.scenario is not None:
            title = f"{what}: {self.scenario.title or Path(self.scenario.name).name}"
            text = self.scenario.text
        lost = (*self.failures, *failures)
        self.to(
            Outcome(title, table, tuple(evidence), notes=tuple(notes), failures=lost, scenario=text, **more)
        )


def stacked(results: Mapping[str, Any], key: str) -> Any:
    """The tables of results below each other, by their names; without a data frame where all can do so."""
    if all(hasattr(one, "to_columns") for one in results.values()):
        return Columns.stacked({name: one.to_columns() for name, one in results.items()}, key)

    import pandas as pd

    return pd.concat({name: one.to_dataframe() for name, one in results.items()}, names=[key])


def command(
    *shared: str, figures: bool = True, report: bool = True, writes: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a function the options of its output, such as ``--json`` and ``--out``, checked before it runs.

    Parameters
    ----------
    *shared : {"jobs", "backend", "seed", "time_limit"}
        Further options that it shares with others.
    figures : bool
        Whether its result can be drawn.
    report : bool
        Whether it writes pages.
    writes : str, optional
        Its own option for a file that it writes.

    Returns
    -------
    callable
        Decorator of a function whose first argument, a :class:`Call`, stands for these options.
    """
    absent = () if figures else ("size", "title")
    output = {n: option for n, option in OUTPUT.items() if n not in absent and (report or n != "report")}

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run(context: typer.Context, **arguments: Any) -> None:
            asked = {name: arguments.pop(name) for name in output}
            asked["out"] = tuple(asked["out"] or ())
            given = {name: arguments.pop(name) for name in shared}
            also = [arguments[writes]] if writes and arguments[writes] is not None else []
            with listening(arguments.pop("verbose")):
                to = Delivery(context, **asked).checked(figures=figures, also=also)
                function(Call(context.info_name or "", to, given), **arguments)

        kind = inspect.Parameter.KEYWORD_ONLY
        first = inspect.Parameter("context", kind, annotation=typer.Context)
        added = [*(SHARED[name] for name in shared), *output.values(), SHARED["verbose"]]
        parameters = [first, *(parameter.replace(kind=kind) for parameter in own), *added]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorated
