"""``replay``: a recorded cluster's tasks, started again by one scheduler or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command, stacked
from fairqueues.console.inputs import told_apart
from fairqueues.console.options import AnyFile
from fairqueues.errors import WrongUse
from fairqueues.scenario.choices import Reader

if TYPE_CHECKING:
    from fairqueues.scenario import Scenario
    from queueing import ClusterTrace, NodeList

__all__ = ["replay"]

TASKS = 2_000
"""Tasks of a synthetic trace."""


@command("seed", "time_limit", writes="checkpoint")
def replay(
    call: Call,
    file: AnyFile = None,
    trace: Path | None = None,
    nodes: Path | None = None,
    schema: Reader = "saved",
    scheduler: Annotated[
        list[str] | None, typer.Option("--scheduler", "-s", autocompletion=completion.schedulers)
    ] = None,
    placement: str | None = None,
    blocking: bool = False,
    load: Annotated[float | None, typer.Option(min=0.0)] = None,
    weight: list[str] | None = None,
    until: float | None = None,
    never_fits: Literal["refuse", "drop"] = "refuse",
    tasks: Annotated[int | None, typer.Option(min=1, max=10**8)] = None,
    checkpoint: Path | None = None,
) -> None:
    """Replay the tasks of a cluster trace under schedulers: waits, slowdowns, shares, idle capacity.

    Parameters
    ----------
    file : FILE
        Scenario file with [trace], or the name of a shipped one; instead of --trace.
    trace : FILE
        Tasks of a recorded cluster; goes with --nodes. Default: synthetic.
    nodes : FILE
        Its nodes.
    schema
        What the files are; saved: by save() of ClusterTrace and NodeList; tasks: CSV of your own.
    scheduler : NAME
        fifo, drf, or a policy to follow (pf, bmf, tsf, mine.py:priority); may be repeated. Default: the
        schedulers in [simulation] of FILE, else its policies, else fifo, drf.
    placement : NAME
        Rule of placement, such as first-fit. Default: that of FILE, else best-fit.
    blocking
        A task that fits nowhere keeps those behind it waiting.
    load : L
        Let tasks arrive faster or slower: to load L if none waited.
    weight : USER=W
        Weight of a user instead of 1; may be repeated.
    until : T
        End of the record, seconds of the trace.
    never_fits
        Tasks that fit on no node.
    tasks : N
        Tasks of the synthetic trace. Default: 2000.
    checkpoint : FILE
        Keep what is done here, of one scheduler.

    Examples
    --------
    $ fairqueues replay --tasks 500 --scheduler drf --scheduler pf --out replay.svg
    """
    _require_one_trace(file, trace, nodes, schema, tasks)
    scenario = None if file is None else call.read(file, fitted=False)
    wanted = [] if scheduler or scenario is None else _listed(scenario, blocking)
    if not wanted:
        wanted = [(name, blocking) for name in scheduler or _policies(scenario) or ["fifo", "drf"]]
    if checkpoint is not None and len(wanted) > 1:
        raise WrongUse("--checkpoint is for one scheduler; give one --scheduler")

    import queueing

    # Python files of policies: of those of a scenario, beside it.
    folder = Path() if scenario is None or scheduler else scenario.place.folder or Path()
    recorded, cluster = _read(scenario, trace, nodes, schema, tasks or TASKS, call.seed)
    tree = None if scenario is None else scenario.tree
    asked = [_scheduler(name, blocks, folder, tree, recorded.users) for name, blocks in wanted]
    if load is not None:
        recorded = cluster.at_load(recorded, load)
    run = partial(
        queueing.replay,
        recorded,
        cluster,
        placement=_placement(scenario, placement),
        weights=dict(_weight(one) for one in weight or ()),
        until=until,
        never_fits=never_fits,
        checkpoint=checkpoint,
        rng=call.seed,
    )
    called = told_apart([one.name for one in asked], [name for name, _ in wanted])
    calls = {name: partial(run, one) for name, one in zip(called, asked, strict=True)}
    results = {name: replace(one, scheduler=name) for name, one in call.run(calls, unit="scheduler").items()}
    source = recorded.source or (trace.name if trace else "a synthetic trace")
    _deliver(call, "Replay" if scenario else f"Replay: {source}", results)


def _deliver(call: Call, what: str, results: dict[str, Any]) -> None:
    """Deliver what every scheduler has done."""
    from fairqueues.console.figures import replays

    some = next(iter(results.values()))
    table = stacked(results, "scheduler")
    call.deliver(
        what,
        table,
        notes=(
            *(line for one in results.values() for line in one.summary().splitlines()),
            *(f"note: {note}" for note in (*some.trace.notes, *some.nodes.notes)),
        ),
        figure=lambda: replays(results),
        seed=call.seed,
        brief=table[["weight", "tasks", "started", "mean_wait", "longest_wait", "mean_slowdown"]],
        extra={"utilization": {name: one.utilization.tolist() for name, one in results.items()}},
    )


def _require_one_trace(
    file: Path | None, trace: Path | None, nodes: Path | None, schema: Reader, tasks: int | None
) -> None:
    """WrongUse unless one trace is meant: of a scenario, of two files, or a synthetic one."""
    if (trace is None) != (nodes is None):
        raise WrongUse("--trace and --nodes go together; without both the trace is a synthetic one")
    if trace is None and schema != "saved":
        raise WrongUse("--schema says what --trace and --nodes are; give both")
    if trace is not None and file is not None:
        raise WrongUse(f"{file} has a trace of its own; leave out --trace and --nodes")
    if tasks is not None and (trace is not None or file is not None):
        raise WrongUse("--tasks is how long a synthetic trace is; leave it out where there is a recorded one")


def _listed(scenario: Scenario, blocking: bool) -> list[tuple[str, bool]]:
    """The schedulers that [simulation] gives: their names, and whether they block where they say so."""
    section = scenario.section("simulation")
    if "schedulers" not in section.model_fields_set:
        return []
    found = []
    for spec, made in zip(section.schedulers, scenario.schedulers, strict=True):
        name = spec["scheduler"] if isinstance(spec, Mapping) else spec
        says = "blocking" in spec if isinstance(spec, Mapping) else ":" in spec
        found.append((name.partition(":")[0], made.blocking if says else blocking))
    return found


def _policies(scenario: Scenario | None) -> list[str]:
    """The policies of a scenario, to follow."""
    specs = [] if scenario is None else scenario.document.policies
    for spec in specs:
        if not isinstance(spec, str):
            raise WrongUse(f"a replay follows policies by name; name {spec['policy']!r} by --scheduler")
    return list(specs)


def _read(
    scenario: Scenario | None,
    trace: Path | None,
    nodes: Path | None,
    schema: Reader,
    tasks: int,
    seed: int,
) -> tuple[ClusterTrace, NodeList]:
    """The trace and its nodes."""
    from fairqueues import traces
    from fairqueues.traces.readers import read_recorded

    if scenario is not None:
        if scenario.recorded is None:
            raise scenario.error((), "a replay needs [trace] of a cluster: reader, file and nodes")
        found: tuple[ClusterTrace, NodeList] = scenario.recorded
        return found
    if trace is None or nodes is None:
        # A fiftieth of the nodes, and more work than they take while it arrives: tasks wait.
        return traces.synthetic_gpu_trace(tasks, rng=seed, scale=0.02, load=4.0)
    return read_recorded(schema, trace, nodes)


def _scheduler(name: str, blocking: bool, folder: Path, tree: Any, users: Sequence[str]) -> Any:
    """A scheduler of whole tasks, or the one that follows a policy."""
    from fairqueues.scenario.names import policy_named, scheduler_named
    from queueing import TargetScheduler

    kind = name.strip().casefold()
    if kind in ("drf", "fifo"):
        made = scheduler_named(kind)
    else:
        policy = policy_named(name, folder=folder, tree=tree)
        if getattr(policy, "tree", None) is not None and set(tree.job_classes) != set(users):
            raise WrongUse(
                f"{name}: a replay shares among the users of the trace, so the classes of the queues in "
                f"[tree] must be {', '.join(users[:10])}{', ...' * (len(users) > 10)}"
            )
        made = TargetScheduler(policy)
    return replace(made, blocking=blocking)


def _placement(scenario: Scenario | None, name: str | None) -> Any:
    """The rule of that name, else that of the scenario, else best fit."""
    from fairqueues.scenario.names import placement_named

    if name is None and scenario is not None and scenario.placement is not None:
        return scenario.placement
    return placement_named("best-fit" if name is None else name)


def _weight(text: str) -> tuple[str, float]:
    user, equals, value = text.rpartition("=")
    try:
        if equals:
            return user, float(value)
    except ValueError:
        pass
    raise WrongUse(f"--weight must be USER=W, such as research=2; got {text!r}")
