"""``replay``: a recorded cluster's tasks, started again by one scheduler or several."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.inputs import seed_of
from fairqueues.console.options import Seed, TimeLimit
from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.report.outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from queueing import ClusterTrace, NodeList

__all__ = ["NeverFits", "Schema", "replay"]

POINTS = 200
"""Times of the curves."""

SHOWN = 0.99
"""Part of the tasks that have started when the curves end."""


class Schema(StrEnum):
    """Files of a trace and of its nodes."""

    SAVED = "saved"
    ALIBABA_GPU_2023 = "alibaba-gpu-2023"
    PHILLY = "philly"


class NeverFits(StrEnum):
    """What happens to tasks that fit on no node."""

    REFUSE = "refuse"
    DROP = "drop"


@command(writes="checkpoint")
def replay(
    deliver: Delivery,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Tasks of a recorded cluster; goes with --nodes. Default: synthetic.",
        ),
    ] = None,
    nodes: Annotated[Path | None, typer.Option("--nodes", metavar="FILE", help="Its nodes.")] = None,
    schema: Annotated[
        Schema,
        typer.Option("--schema", help="What the files are; saved: by save() of ClusterTrace and NodeList."),
    ] = Schema.SAVED,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            "--scheduler",
            "-s",
            metavar="NAME",
            help="fifo, drf, or a policy to follow (pf, bmf, tsf, ...); may be repeated. Default: fifo, drf.",
        ),
    ] = None,
    placement: Annotated[
        str, typer.Option("--placement", metavar="NAME", help="Rule of placement, such as first-fit.")
    ] = "best-fit",
    blocking: Annotated[
        bool, typer.Option("--blocking", help="A task that fits nowhere keeps those behind it waiting.")
    ] = False,
    load: Annotated[
        float | None,
        typer.Option(
            "--load",
            min=0.0,
            metavar="L",
            help="Let tasks arrive faster or slower: to load L if none waited.",
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="USER=W", help="Weight of a user instead of 1; may be repeated."),
    ] = None,
    until: Annotated[
        float | None, typer.Option("--until", metavar="T", help="End of the record, seconds of the trace.")
    ] = None,
    never_fits: Annotated[
        NeverFits, typer.Option("--never-fits", help="Tasks that fit on no node.")
    ] = NeverFits.REFUSE,
    tasks: Annotated[
        int, typer.Option("--tasks", min=1, max=10**8, metavar="N", help="Tasks of the synthetic trace.")
    ] = 2_000,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="Keep what is done here, of one scheduler."),
    ] = None,
    seed: Seed = None,
    time_limit: TimeLimit = None,
) -> None:
    """Replay the tasks of a cluster trace under schedulers: waits, slowdowns, shares, idle capacity."""
    if (trace is None) != (nodes is None):
        raise WrongUse("--trace and --nodes go together; without both the trace is a synthetic one")
    if trace is None and schema is not Schema.SAVED:
        raise WrongUse("--schema says what --trace and --nodes are; give both")
    names = scheduler or ["fifo", "drf"]
    if checkpoint is not None and len(names) > 1:
        raise WrongUse("--checkpoint is for one scheduler; give one --scheduler")
    entropy = seed_of(seed)

    import pandas as pd

    import queueing
    from fairqueues.console.progress import reached
    from fairqueues.scenario.names import placement_named

    asked = [_scheduler(name, blocking) for name in names]
    recorded, cluster = _read(trace, nodes, schema, tasks, entropy)
    if load is not None:
        offered = float(cluster.offered_load(recorded).max())
        if load == 0 or offered == math.inf:
            raise WrongUse(
                "--load must be > 0, and goes with tasks that arrive over time, on nodes with all that they "
                "demand; leave it out"
            )
        recorded = recorded.scaled(load / offered)
    run = partial(
        queueing.replay,
        recorded,
        cluster,
        placement=placement_named(placement),
        weights=dict(_weight(one) for one in weight or ()),
        until=until,
        never_fits=str(never_fits),
        checkpoint=checkpoint,
        rng=entropy,
    )
    calls = {one.name: partial(run, one) for one in asked}
    results, failures = reached(calls, "replay", unit="scheduler", time_limit=time_limit)
    some = next(iter(results.values()))
    deliver(
        Outcome(
            f"Replay: {recorded.source or (trace.name if trace else 'a synthetic trace')}",
            pd.concat({name: one.to_dataframe() for name, one in results.items()}, names=["scheduler"]),
            notes=(
                *(line for one in results.values() for line in one.summary().splitlines()),
                *(f"note: {note}" for note in some.trace.notes),
            ),
            failures=failures,
            figure=lambda: _figure(results),
            seed=entropy,
            brief=pd.concat({name: _brief(one) for name, one in results.items()}, names=["scheduler"]),
            extra={"utilization": {name: one.utilization.tolist() for name, one in results.items()}},
        )
    )


def _read(
    trace: Path | None, nodes: Path | None, schema: Schema, tasks: int, seed: int
) -> tuple[ClusterTrace, NodeList]:
    """The trace and its nodes."""
    from fairqueues import traces
    from queueing import ClusterTrace, NodeList

    if trace is None or nodes is None:
        # A fiftieth of the nodes, and more work than they take while it arrives: tasks wait.
        return traces.synthetic_gpu_trace(tasks, rng=seed, scale=0.02, load=4.0)
    if schema is Schema.SAVED:
        return ClusterTrace.load(trace), NodeList.load(nodes)
    reader = traces.read_philly if schema is Schema.PHILLY else traces.read_alibaba_gpu_2023
    return reader(trace, nodes)


def _scheduler(name: str, blocking: bool) -> Any:
    """A scheduler of whole tasks, or the one that follows a policy."""
    from fairqueues.scenario.names import policy_named, scheduler_named
    from queueing import TargetScheduler

    kind = name.strip().casefold()
    made = scheduler_named(kind) if kind in ("drf", "fifo") else TargetScheduler(policy_named(name))
    return replace(made, blocking=blocking)


def _weight(text: str) -> tuple[str, float]:
    user, equals, value = text.rpartition("=")
    try:
        if equals:
            return user, float(value)
    except ValueError:
        pass
    raise WrongUse(f"--weight must be USER=W, such as research=2; got {text!r}")


def _brief(one: Any) -> Any:
    """What fits a terminal."""
    return one.to_dataframe()[["weight", "tasks", "started", "mean_wait", "longest_wait", "mean_slowdown"]]


def _figure(results: dict[str, Any]) -> Figure:
    """Slowdowns, shares and idle capacity of each scheduler, below each other."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.0, 3.6 * len(results)), layout="constrained")
    axes = figure.subplots(len(results), 3, squeeze=False)
    for row, one in zip(axes, results.values(), strict=True):
        # Until nearly all have started: the last may start long after, and others run on for long.
        started = one.starts[~np.isnan(one.starts)]
        last = np.quantile(started, SHOWN) if len(started) else one.end
        paths = one.over_time(POINTS, end=float(last))
        one.plot(row[0])
        paths.plot(row[1], "shares")
        paths.plot(row[2], "stranded")
    return figure
