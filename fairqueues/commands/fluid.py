"""``fluid``: whether the fluid limit drains, and how it goes from a start."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from fairqueues.console.command import Call, command
from fairqueues.console.inputs import chosen, numbers, setting
from fairqueues.console.options import File, Policies
from fairqueues.report.outcome import Evidence

__all__ = ["fluid"]


@command("seed")
def fluid(
    call: Call,
    file: File,
    policy: Policies = None,
    start: str | None = None,
    horizon: Annotated[float | None, typer.Option(min=0.0)] = None,
    verdict: bool = False,
) -> None:
    """Judge the fluid limit of every policy and follow it from a start.

    Parameters
    ----------
    start : X,Y,...
        Jobs at time 0 instead of [fluid].
    horizon : T
        Stop the trajectory here.
    verdict
        Only verdicts, which become the table of --csv and --out.

    Examples
    --------
    $ fairqueues fluid talk_unbalanced --out fluid.svg
    """
    scenario = call.read(file)
    policies = chosen(scenario, policy)
    system = scenario.system
    begin = setting(scenario, "fluid", "start", numbers("--start", start, system.n_classes))
    end = setting(scenario, "fluid", "horizon", horizon)
    followed = begin is not None and not verdict
    call.to.require_figure(followed, "only a trajectory is drawn; give --start or [fluid]")

    import pandas as pd

    from fairqueues.console.figures import drawn
    from queueing import fluid_verdict, trajectory

    # The trajectories first: what is wrong with a start shows at once.
    begun = policies if followed else {}
    follow = {n: partial(trajectory, system, p, begin, horizon=end) for n, p in begun.items()}
    judge = {n: partial(fluid_verdict, system, p, rng=call.seed) for n, p in policies.items()}
    paths = call.run(follow, what="trajectory")
    verdicts = call.run(judge, what="verdict")
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
    call.deliver(
        "Fluid limit",
        table,
        (Evidence(n, f"{v.status}, by {v.basis}: {v.evidence}") for n, v in verdicts.items()),
        tables=tables,
        notes=(line.strip() for p in paths.values() for line in p.summary().splitlines()),
        brief=judged,
        axis=(system.problem.job_classes, "jobs"),
        figure=(lambda: drawn(paths.values(), 4.6, 4.0)) if paths else None,
        seed=call.seed,
        extra={"verdicts": {n: {"status": v.status, "basis": v.basis, "evidence": v.evidence}
                            for n, v in verdicts.items()}},
    )  # fmt: skip


def _long(path: Any) -> Any:
    """Rows by step and class; the times of events may come twice, so the step is the key."""
    frame = path.to_dataframe().reset_index()
    frame.index.name = "step"
    return frame
