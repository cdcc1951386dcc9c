"""``fluid``: whether the fluid limit drains, and how it goes from a start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import chosen, heading, numbers, seed_of
from fairqueues.console.options import File, Policies, Seed
from fairqueues.console.output import Delivery
from fairqueues.report.outcome import Evidence, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["fluid"]


@command()
def fluid(
    deliver: Delivery,
    file: File,
    policy: Policies = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="X,Y,...", help="Jobs at time 0 instead of [fluid].")
    ] = None,
    horizon: Annotated[
        float | None, typer.Option("--horizon", min=0.0, metavar="T", help="Stop the trajectory here.")
    ] = None,
    verdict: Annotated[
        bool, typer.Option("--verdict", help="Only verdicts, which become the table of --csv and --out.")
    ] = False,
    seed: Seed = None,
) -> None:
    """Judge the fluid limit of every policy and follow it from a start."""
    scenario = deliver.read(file)
    policies = chosen(scenario, policy)
    system = scenario.system
    section = scenario.section("fluid") if scenario.has("fluid") else None
    given = numbers("--start", start, system.n_classes)
    begin: Any = given if given is not None else getattr(section, "start", None)
    end = horizon if horizon is not None else getattr(section, "horizon", None)
    followed = begin is not None and not verdict
    deliver.require_figure(followed, "only a trajectory is drawn; give --start or [fluid]")
    entropy = seed_of(seed, scenario)

    import pandas as pd

    from fairqueues.console.progress import reached
    from queueing import fluid_verdict, trajectory

    # The trajectories first: what is wrong with a start shows at once.
    begun = policies if followed else {}
    follow = {n: partial(trajectory, system, p, begin, horizon=end) for n, p in begun.items()}
    judge = {n: partial(fluid_verdict, system, p, rng=entropy) for n, p in policies.items()}
    paths, lost = reached(follow, "fluid", what="trajectory")
    verdicts, open_questions = reached(judge, "fluid", what="verdict")
    rows = [
        {
            "policy": name,
            "status": v.status,
            "basis": v.basis,
            "growth": v.growth,
            **({"emptying_time": paths[name].emptying_time} if name in paths else {}),
        }
        for name, v in verdicts.items()
    ]
    judged = pd.DataFrame(rows).set_index("policy")
    table, tables = judged, {}
    if paths:
        table = pd.concat({n: _long(p) for n, p in paths.items()}, names=["policy"])
        tables = {"verdicts": judged}
    deliver(
        Outcome(
            heading("Fluid limit", scenario),
            table,
            tuple(Evidence(n, f"{v.status}, by {v.basis}: {v.evidence}") for n, v in verdicts.items()),
            tables,
            notes=tuple(line.strip() for p in paths.values() for line in p.summary().splitlines()),
            failures=(*lost, *open_questions),
            brief=judged,
            dataset=deliver.dataset(table, system.problem.job_classes, "jobs"),
            figure=(lambda: _figure(paths)) if paths else None,
            scenario=scenario.text,
            seed=entropy,
            extra={"verdicts": {n: {"status": v.status, "basis": v.basis, "evidence": v.evidence}
                                for n, v in verdicts.items()}},
        )
    )  # fmt: skip


def _long(path: Any) -> Any:
    """Rows by step and class; the times of events may come twice, so the step is the key."""
    frame = path.to_dataframe().reset_index()
    frame.index.name = "step"
    return frame


def _figure(paths: dict[str, Any]) -> Figure:
    from fairness.display.drawing import panels

    figure, axes = panels(len(paths), 4.6, 4.0)
    for ax, path in zip(axes, paths.values(), strict=True):
        path.plot(ax)
    return figure
