"""The same model said to another tool and to this library: ``python -m benchmarks.comparison [TOOL ...]``.

Each case runs in a process of its own, which prints what the other tool and what the library found, and the
seconds of the processor that both took (imports left out, kernels compiled before). A tool that is not
installed is named, with what to install, and left out. The exit code is 1 if two numbers that should be equal
are not. docs/comparison.md tells what each tool is for, and shows these models side by side.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, allocate
from queueing import FiniteChain, System, enclose_chain, simulate, stationary

__all__ = ["CASES", "Case", "Found", "compare"]

PATIENCE = 600.0
"""Seconds that a case may take."""


@dataclass(frozen=True)
class Found:
    """What both found: the other tool first."""

    version: str
    numbers: tuple[list[float], list[float]]
    seconds: tuple[float, float]
    note: str = ""

    @property
    def gap(self) -> float:
        """Largest relative difference."""
        theirs, ours = map(np.asarray, self.numbers)
        return float(np.max(np.abs(theirs - ours) / np.abs(ours)))


@dataclass(frozen=True)
class Case:
    """A model, the tool, what to install for it, and how far apart the numbers may be, relative."""

    model: str
    package: str
    run: Callable[[], Found]
    most: float


def timed(call: Callable[[], object]) -> tuple[object, float]:
    """What a call gives, and its seconds of the processor."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def ciw_processor_sharing() -> Found:
    """Two classes on one resource: durations of the classes, by simulation there, exactly here."""
    import ciw

    ciw.seed(1)
    network = ciw.create_network(
        arrival_distributions={"A": [ciw.dists.Exponential(0.3)], "B": [ciw.dists.Exponential(0.2)]},
        service_distributions={"A": [ciw.dists.Exponential(1.0)], "B": [ciw.dists.Exponential(0.5)]},
        number_of_servers=[float("inf")],
    )
    run = ciw.Simulation(network, node_class=ciw.PSNode)
    _, theirs = timed(lambda: run.simulate_until_max_time(400_000))
    records = run.get_all_records()
    means = [
        float(np.mean([r.exit_date - r.arrival_date for r in records if r.customer_class == name]))
        for name in "AB"
    ]
    system = System(Problem([[1], [1]], [1]), arrival_rates=[0.3, 0.2], mean_sizes=[1.0, 2.0])
    simulate(system, DRF(), jobs=1_000, replications=2, rng=1, progress=False)
    _, ours = timed(lambda: simulate(system, DRF(), jobs=200_000, replications=2, rng=1, progress=False))
    note = f"jobs a second: {len(records) / theirs:,.0f}; {400_000 / ours:,.0f}"
    return Found(
        ciw.__version__, (means, list(stationary(system, DRF()).mean_durations)), (theirs, ours), note
    )


def line_discriminatory_sharing() -> Found:
    """Weights 2 and 1 on one resource, discriminatory processor sharing: the chain, solved by both."""
    from line_solver import Exp, Network, OpenClass, Queue, SchedStrategy, Sink, Source

    model = Network("weights")
    source = Source(model, "source")
    queue = Queue(model, "queue", SchedStrategy.DPS)
    sink = Sink(model, "sink")
    for name, weight, rate, size in (("A", 2, 0.3, 1.0), ("B", 1, 0.2, 2.0)):
        job = OpenClass(model, name)
        source.setArrival(job, Exp(rate))
        queue.setService(job, Exp(1 / size), weight)
    model.link(Network.serialRouting(source, queue, sink))
    jobs, theirs = timed(lambda: line_mean_jobs(model, 40))
    pool = Problem([[1], [1]], [1], weights=[2, 1])
    system = System(pool, arrival_rates=[0.3, 0.2], mean_sizes=[1.0, 2.0])
    stationary(system, DRF())
    law, ours = timed(lambda: stationary(system, DRF()))
    return Found(line_version(), (jobs, list(law.mean_jobs)), (theirs, ours))


def line_two_resources() -> Found:
    """DRF of two resources: there its rates are written by hand, as a function of the whole state."""
    from line_solver import Disabled, Exp, Network, OpenClass, Queue, SchedStrategy, Sink, Source

    rate, side = 0.7, 30
    model = Network("drf")
    source = Source(model, "source")
    queues = [Queue(model, f"queue {i}", SchedStrategy.PS) for i in range(2)]
    sink = Sink(model, "sink")
    jobs = [OpenClass(model, f"class {i}") for i in range(2)]
    for i in range(2):
        source.setArrival(jobs[i], Exp(rate))
        for k in range(2):
            queues[k].setService(jobs[i], Exp(1.0) if i == k else Disabled())
    routes = model.initRoutingMatrix()
    for i in range(2):
        routes.set(jobs[i], jobs[i], source, queues[i], 1.0)
        routes.set(jobs[i], jobs[i], queues[i], sink, 1.0)
    model.link(routes)
    place = [int(model.getStruct().nodeToStation[model.getNodeIndex(f"queue {i}") - 1]) for i in range(2)]

    def rates(state: np.ndarray) -> np.ndarray:
        counts = np.array([state[place[i], i] for i in range(2)], dtype=float)
        scale = np.ones(state.shape)
        # Demands (10, 1), (1, 10) of capacities (11, 11): equal shares until a resource is full. A class
        # alone runs 1.1 tasks.
        level = 11 / max(10 * counts[0] + counts[1], counts[0] + 10 * counts[1], 1.0)
        for i in range(2):
            scale[place[i], i] = counts[i] * level
        return scale

    model.set_global_dependence(rates, 1.0, side)
    found, theirs = timed(lambda: line_mean_jobs(model, side))
    system = System(Problem([[10, 1], [1, 10]], [11, 11]), arrival_rates=[rate, rate], mean_sizes=[1, 1])
    stationary(system, DRF(), shape=side + 1)
    law, ours = timed(lambda: stationary(system, DRF(), shape=side + 1))
    return Found(line_version(), (found, list(law.mean_jobs)), (theirs, ours))


def line_mean_jobs(model: object, cutoff: int) -> list[float]:
    """Mean jobs of each class, all stations together, by the chain that LINE cuts off."""
    import contextlib
    import io
    import warnings

    from line_solver import SolverCTMC

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # that the state space is cut off
        jobs = np.asarray(SolverCTMC(model, cutoff=cutoff).getAvgQLen())
    return [float(v) for v in jobs.sum(axis=0)]


def line_version() -> str:
    from importlib.metadata import version

    return version("line-solver")


def simgrid_network() -> Found:
    """Three flows on two links, of capacities 1 and 2: one flow on both, one on each."""
    import simgrid

    options = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0"]
    engine = simgrid.Engine(["x", *(f"--cfg={o}" for o in options), "--log=root.thres:critical"])
    zone = simgrid.NetZone.create_full_zone("zone")
    hosts = [zone.create_host(name, 1e9) for name in "abc"]
    links = [zone.create_link(name, rate).seal() for name, rate in (("one", 1.0), ("two", 2.0))]
    flows = ((0, 2, links), (0, 1, links[:1]), (1, 2, links[1:]))
    for start, end, route in flows:
        points = hosts[start].netpoint, hosts[end].netpoint
        zone.add_route(*points, None, None, [simgrid.LinkInRoute(link) for link in route], True)
    zone.seal()
    rates: list[float] = []

    def watch() -> None:
        sent = [simgrid.Comm.sendto_init(hosts[start], hosts[end]) for start, end, _ in flows]
        for comm in sent:
            comm.set_payload_size(1_000)
            comm.start()
        simgrid.this_actor.sleep_for(100)
        rates.extend((1_000 - comm.remaining) / 100 for comm in sent)
        for comm in sent:
            comm.wait()

    simgrid.Actor.create("watch", hosts[0], watch)
    _, theirs = timed(engine.run)
    pool = Problem([[1, 1], [1, 0], [0, 1]], [1, 2])
    allocate(pool, MaxMin())
    shares, ours = timed(lambda: allocate(pool, MaxMin()))
    return Found(str(simgrid.simgrid_version), (rates, list(shares.tasks)), (theirs, ours))


def simgrid_bottlenecks() -> Found:
    """Three parallel tasks on two hosts, shared by SimGrid's BMF solver: when the first one ends."""
    import simgrid

    options = ["host/model:ptask_L07", "host/solver:bmf"]
    engine = simgrid.Engine(["x", *(f"--cfg={o}" for o in options), "--log=root.thres:critical"])
    zone = simgrid.NetZone.create_full_zone("zone")
    hosts = [zone.create_host(name, 1.0) for name in "ab"]
    zone.add_route(
        hosts[0].netpoint, hosts[1].netpoint, None, None,
        [simgrid.LinkInRoute(zone.create_link("link", 1.0).seal())], True,
    )  # fmt: skip
    zone.seal()
    demands = [[4.0, 1.0], [2.0, 1.0], [1.0, 4.0]]
    ends: list[float] = []

    def job(work: list[float]) -> Callable[[], None]:
        def run() -> None:
            simgrid.this_actor.parallel_execute(hosts, work, [0.0] * 4)
            ends.append(float(engine.clock))

        return run

    for number, work in enumerate(demands):
        simgrid.Actor.create(f"job {number}", hosts[0], job(work))
    _, theirs = timed(engine.run)
    pool = Problem(demands, [1, 1])
    allocate(pool, BottleneckMax())
    shares, ours = timed(lambda: allocate(pool, BottleneckMax()))
    return Found(str(simgrid.simgrid_version), ([min(ends)], [1 / float(shares.tasks.max())]), (theirs, ours))


def storm_chain() -> Found:
    """The chain of DRF on 60 x 60 states, written for Storm: mean jobs of the first class, sound there."""
    import stormpy

    from fairqueues.exchange import generator, write_chain

    system = System.with_load(Problem([[10, 1], [1, 10]], [11, 11]), [1, 1], 0.7)
    counts = np.indices((60, 60)).reshape(2, -1)
    chain = FiniteChain(generator(system, DRF(), 60), rewards={"A": counts[0], "B": counts[1]})
    with tempfile.TemporaryDirectory() as folder:
        (file,) = write_chain(chain, Path(folder) / "drf", kinds=["storm"])
        model = stormpy.build_model_from_drn(str(file))
    asked = stormpy.parse_properties('R{"A"}=? [ LRA ]')[0]
    environment = stormpy.Environment()
    environment.solver().force_soundness = True
    result, theirs = timed(lambda: stormpy.model_checking(model, asked, environment=environment))
    enclose_chain(chain, ["A"])
    bounds, ours = timed(lambda: enclose_chain(chain, ["A"]).bounds("A"))
    low, high = bounds
    note = f"bounds proved here, {(high - low) / low:.0e} apart"
    return Found(stormpy.__version__, ([float(result.get_value(0))], [low]), (theirs, ours), note)


def cvxpy_proportional() -> Found:
    """Proportional fairness of 100 classes on 20 resources, by cvxpy and Clarabel."""
    import cvxpy

    rng = np.random.default_rng(1)
    pool = Problem(rng.uniform(0.1, 1, (100, 20)), np.ones(20))
    tasks = cvxpy.Variable(100)
    program = cvxpy.Problem(
        cvxpy.Maximize(cvxpy.sum(cvxpy.log(tasks))), [pool.demands.T @ tasks <= pool.capacities]
    )
    _, theirs = timed(lambda: program.solve(solver="CLARABEL"))
    allocate(pool, ProportionalFair())
    shares, ours = timed(lambda: allocate(pool, ProportionalFair()))
    note = f"duality gap here {shares.certificate.duality_gap:.0e}"
    return Found(cvxpy.__version__, (list(tasks.value), list(shares.tasks)), (theirs, ours), note)


CASES = {
    # 80,000 jobs of the rarer class, which wait together: a mean is right to about 2 %.
    "ciw": Case("processor sharing, two classes", "ciw", ciw_processor_sharing, 0.05),
    # Both cut the chain off, LINE at 40 jobs.
    "line": Case("weights 2 and 1 on one resource", "line-solver", line_discriminatory_sharing, 1e-5),
    "line-drf": Case("DRF on two resources, rates by hand", "line-solver", line_two_resources, 1e-6),
    "simgrid": Case("max-min fair flows on two links", "simgrid", simgrid_network, 1e-6),
    "simgrid-bmf": Case("BMF of three jobs on two resources", "simgrid", simgrid_bottlenecks, 1e-6),
    "storm": Case("chain of DRF, 3,600 states", "stormpy", storm_chain, 1e-6),
    # Clarabel stops at 1e-8 of the objective, which is flat at the optimum.
    "cvxpy": Case("PF, 100 classes on 20 resources", "cvxpy", cvxpy_proportional, 1e-3),
}


def compare(name: str) -> Found | str:
    """What a case found, in a process of its own; or why it could not run."""
    command = [sys.executable, "-m", "benchmarks.comparison", "--alone", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode == 0:
        return Found(**json.loads(done.stdout.splitlines()[-1]))
    if "ModuleNotFoundError" in done.stderr:
        return f"not installed: pip install {CASES[name].package}"
    raise RuntimeError(f"{name}:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Print a line per case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--alone", choices=list(CASES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(asdict(CASES[arguments.alone].run())))
        return 0
    if wrong := [tool for tool in arguments.tools if tool not in CASES]:
        parser.error(f"unknown: {', '.join(wrong)}; choose from {', '.join(CASES)}")
    missed = 0
    for name in arguments.tools or CASES:
        case, found = CASES[name], compare(name)
        if isinstance(found, str):
            print(f"{name:12} {found}")
            continue
        equal = found.gap <= case.most
        missed += not equal
        theirs, ours = found.seconds
        print(
            f"{name:12} {found.version:8} {case.model:36} gap {found.gap:.1e} "
            f"({'ok' if equal else 'MISSED'}, at most {case.most:.0e}); {theirs:.3g} s; {ours:.3g} s  "
            f"{found.note}"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
