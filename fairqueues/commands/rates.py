"""``rates``: mean service rates, or durations, of every method against the load."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairqueues.console.command import Call, command
from fairqueues.console.inputs import chain_options, chosen, labelled, settings
from fairqueues.console.options import File, Methods, Precision, Seconds
from fairqueues.console.remedies import placed
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from capacity.results import LoadCurves, Solved
    from fairqueues.scenario import Scenario
    from queueing import System

__all__ = ["deliver_means", "rates", "within"]

MOST_LOADS = 1000

UNSTABLE = ("UnstableError", ": unstable: ", ": overload: ")
"""Words of an answer that there is no stationary law."""

TABLES = {"chain": ("tail", "max_states", "shape", "solver"),
          "simulation": ("events", "jobs", "replications", "warmup", "confidence", "precision")}  # fmt: skip
"""Keys of the file that count, where it gives them."""


@command("jobs", "backend", "seed", writes="checkpoint")
def rates(
    call: Call,
    file: File,
    method: Methods = None,
    loads: str = ".1:.95:18",
    durations: bool = False,
    checkpoint: Path | None = None,
    seconds: Seconds = None,
    precision: Precision = None,
) -> None:
    """Draw the mean service rate of each class against the load, under the policies of the file.

    Beside them stand, of one pool, balanced fairness ("balanced") and the closed-form bound of it ("bound");
    --policy takes other methods, "optimal" among them, the fewest jobs that any policy can have. Policies are
    solved by their Markov chains, or simulated, with intervals, where there is none that fits. Give the same
    command again to go on after a stop, or with --seconds and --checkpoint for more seconds.

    Parameters
    ----------
    loads : FIRST:LAST:N
        Loads of the busiest resource; or a list, .3,.6,.9.
    durations
        Mean durations instead of mean service rates.

    Examples
    --------
    $ fairqueues rates talk_sweep --out rates.pdf
    """
    scenario = call.read(file)
    notes: list[str] = []
    if method:
        methods = labelled([scenario.sweep_method(name, Path()) for name in method], method)
    elif scenario.is_cluster:
        methods = chosen(scenario, None)
        notes.append("balanced fairness and its bound are known for one pool, and left out here")
    else:
        from capacity.means.words import BALANCED, BOUND

        beside = [BALANCED, BOUND]
        methods = labelled([*beside, *scenario.policies], [*beside, *scenario.document.policies])
    system, values = scenario.system, _loads(loads)
    quantity = "mean_durations" if durations else "service_rates"
    what = "Mean durations" if durations else "Mean service rates"
    if seconds is not None:
        solved = within(call, system, methods, values, seconds, precision, checkpoint)
        deliver_means(call, what, solved, quantity, notes)
        return
    if precision is not None:
        raise WrongUse("--precision is for answers in a given time; add --seconds")

    import capacity

    with call.to.finished_points(checkpoint) as kept:
        with call.workers() as n_jobs:
            curves = capacity.load_curves(
                system,
                methods,
                values,
                **_options(scenario),
                n_jobs=n_jobs,
                checkpoint=kept,
                rng=call.seed,
            )
        deliver_means(call, what, curves, quantity, notes)


def within(
    call: Call,
    system: System,
    methods: Mapping[str, Any],
    loads: Any,
    seconds: float,
    precision: float | None,
    checkpoint: Path | None = None,
) -> Solved:
    """What :func:`capacity.solve` finds in the time; it goes on from a checkpoint that is there."""
    import capacity
    from capacity.results import Solved

    known = None if checkpoint is None or not checkpoint.exists() else Solved.load(checkpoint)
    given: Any = {} if precision is None else {"precision": precision}
    asked = partial(capacity.solve, system, methods, loads, seconds=seconds, start=known, **given)
    name = f"{len(methods)} methods in {seconds:g} s"
    solved: Solved = call.run({name: partial(asked, n_jobs=call.jobs, rng=call.seed)})[name]
    if checkpoint is not None:
        solved.save(checkpoint)
    return solved


def deliver_means(
    call: Call,
    what: str,
    curves: LoadCurves,
    quantity: str,
    notes: Sequence[str],
    beside: Collection[str] = (),
) -> None:
    """Deliver means against the load; that a policy is unstable is an answer, and no failure.

    Nor is it one that something is not known that stands ``beside`` what was asked.
    """
    missing = {name: curves.missing(name) for name in curves.methods}
    lacking = [line for name, lines in missing.items() if name not in beside for line in lines]
    failures = [line for line in lacking if not any(word in line for word in UNSTABLE)]
    known = [line for lines in missing.values() for line in lines if line not in failures]
    call.deliver(
        what,
        curves.to_dataframe(),
        (
            Evidence(name, claim, worst, bound="upper")
            for name, claims in curves.evidence().items()
            for claim, worst in claims
        ),
        notes=[
            *notes,
            *known,
            *curves.compared(),
            *(
                f"warning: {name} at load {load:g}: no interval, so not drawn: {placed(why, call.name)}"
                for load, name, why in curves.without_interval()
            ),
        ],
        failures=failures,
        figure=lambda: curves.figure(quantity),
        dataset=curves.to_dataset(),
        seed=call.seed,
        brief=curves.table(quantity),
    )


def _loads(text: str) -> Any:
    """Loads of a text such as ".1:.95:18" or ".3,.6,.9".

    Examples
    --------
    >>> _loads(".2:.8:4"), _loads(".3,.9")
    ([0.2, 0.4, 0.6, 0.8], [0.3, 0.9])
    """
    import numpy as np

    first, *rest = text.split(":")
    try:
        if not rest:
            found = [float(part) for part in first.split(",")]
        else:
            last, number = float(rest[0]), int(rest[1])
            if len(rest) > 2 or not 1 <= number <= MOST_LOADS:
                raise ValueError
            found = [round(load, 12) for load in np.linspace(float(first), last, number).tolist()]
    except (ValueError, IndexError):
        raise WrongUse(
            f"--loads must be FIRST:LAST:N, such as .1:.95:18, at most {MOST_LOADS} of them, or numbers with "
            f"commas between; got {text!r}"
        ) from None
    if not all(0 < load < 1 for load in found) or sorted(set(found)) != found:
        raise WrongUse(
            f"--loads must be increasing and between 0 and 1, where stationary laws exist; got {text!r}"
        )
    return found


def _options(scenario: Scenario) -> dict[str, Any]:
    """What the tables of the file say about chains and simulations, as arguments of the curves."""
    found: dict[str, Any] = {}
    for table, keys in TABLES.items():
        found |= settings(scenario, table, [k for k in keys if k in scenario.section(table).model_fields_set])
    if "solver" in found:
        found["solver"] = chain_options(scenario)["solver"]
    return found
