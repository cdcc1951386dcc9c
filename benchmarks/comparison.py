"""The same model said to another tool and to this library: ``python -m benchmarks.comparison [TOOL ...]``.

Each case runs in three sizes, each in a process of its own, which prints what the other tool and what the
library found, and the seconds of the processor that both took (imports left out, kernels compiled before). A
tool that is not installed is named, with what to install, and left out. The exit code is 1 if two numbers
that should be equal are not. With ``--page docs/comparison.md`` the table there becomes what was
found; that page tells what each tool is for, and shows some of the models side by side.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_filling import routes_of_five
from benchmarks.harness import replace_section
from capacity import stability_region
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, allocate
from fairqueues.exchange import generator, write_chain
from queueing import (
    FIFOScheduler,
    FiniteChain,
    System,
    Tasks,
    balanced_fairness,
    enclose_chain,
    simulate,
    stationary,
)

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
    run: Callable[[Any], Found]
    sizes: tuple[Any, ...]
    most: float

    def called(self, size: Any) -> str:
        """The model with its size in words."""
        sizes = size if isinstance(size, tuple | list) else [size] * self.model.count("{}")
        return self.model.format(*(f"{value:,}" for value in sizes))


def timed(call: Callable[[], object]) -> tuple[object, float]:
    """What a call gives, and its seconds of the processor."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def settled(call: Callable[[], Any]) -> tuple[Any, float]:
    """The same of this library, after so many calls that its kernels are compiled."""
    patience = time.monotonic() + 5.0
    for _ in range(200):
        call()
        if time.monotonic() > patience:
            break
    return timed(call)


def ciw_processor_sharing(n: int) -> Found:
    """Classes on one resource: durations of the classes, by simulation there, exactly here."""
    import ciw

    ciw.seed(1)
    names = [f"class {i + 1}" for i in range(n)]
    sizes = {name: 1.0 + i for i, name in enumerate(names)}
    system = System(
        Problem(np.ones((n, 1)), [1], job_classes=names),
        arrival_rates=[0.7 / n / size for size in sizes.values()],
        mean_sizes=list(sizes.values()),
    )
    rates = dict(zip(names, system.arrival_rates, strict=True))
    network = ciw.create_network(
        arrival_distributions={name: [ciw.dists.Exponential(rate)] for name, rate in rates.items()},
        service_distributions={name: [ciw.dists.Exponential(1 / size)] for name, size in sizes.items()},
        number_of_servers=[float("inf")],
    )
    run = ciw.Simulation(network, node_class=ciw.PSNode)
    horizon = 200_000 / sum(rates.values())
    _, theirs = timed(lambda: run.simulate_until_max_time(horizon))
    records = run.get_all_records()
    means = [
        float(np.mean([r.exit_date - r.arrival_date for r in records if r.customer_class == name]))
        for name in names
    ]
    _, ours = settled(lambda: simulate(system, DRF(), jobs=100_000, replications=2, rng=1, progress=False))
    note = f"200,000 simulated jobs in both; {len(records) / theirs:,.0f} and {200_000 / ours:,.0f} a second"
    # On one resource DRF shares the processor equally, as does balanced fairness, of which the law is known.
    exact = balanced_fairness(system).mean_durations
    return Found(ciw.__version__, (means, exact.tolist()), (theirs, ours), note)


def simpy_servers(n: int) -> Found:
    """Jobs of one task each that wait in order for n servers: their mean duration, simulated by both."""
    import simpy

    load, jobs, rng = 0.8 * n, 100_000, np.random.default_rng(1)
    gaps, sizes = rng.exponential(1 / load, jobs), rng.exponential(1.0, jobs)
    ends = np.zeros(jobs)
    world = simpy.Environment()
    servers = simpy.Resource(world, capacity=n)

    def job(k: int) -> Iterator[object]:
        came = world.now
        with servers.request() as place:
            yield place
            yield world.timeout(sizes[k])
        ends[k] = world.now - came

    def source() -> Iterator[object]:
        for k in range(jobs):
            yield world.timeout(gaps[k])
            world.process(job(k))

    world.process(source())
    _, theirs = timed(world.run)
    system = System(Problem([[1]], [n]), arrival_rates=[load], mean_sizes=[1])
    run = partial(simulate, system, FIFOScheduler(), tasks=Tasks(per_job=1), events=jobs, replications=2)
    _, ours = settled(lambda: run(rng=1, progress=False))
    # Sizes are exponential, so that who waits does not matter for how many there are: one task a job at most.
    law = stationary(System(Problem([[1]], [n], limits=[1]), [load], [1]), DRF())
    note = "100,000 simulated jobs in both; compared with the exact mean"
    return Found(simpy.__version__, ([float(ends.mean())], list(law.mean_durations)), (theirs, ours), note)


def quantecon_chain(side: int) -> Found:
    """Law of the chain of DRF: by elimination of Grassmann, Taksar and Heyman in both, dense there."""
    import quantecon
    from quantecon.markov import gth_solve

    system = System.with_load(Problem([[10, 1], [1, 10]], [11, 11]), [1, 1], 0.7)
    dense = generator(system, DRF(), side).toarray()
    gth_solve(dense)
    law, theirs = timed(lambda: gth_solve(dense))
    counts = np.indices((side, side)).reshape(2, -1)
    found, ours = settled(lambda: stationary(system, DRF(), shape=side))
    means = (counts @ law).tolist()
    return Found(quantecon.__version__, (means, found.mean_jobs.tolist()), (theirs, ours), "errors told here")


def cdd_vertices(n: int) -> Found:
    """Vertices of what n classes can run on eight resources: their number, and the sum of all coordinates."""
    import cdd

    pool = Problem(np.random.default_rng(n).uniform(0.1, 1.0, (n, 8)).round(3), np.ones(8))
    rows = np.block([[np.ones((8, 1)), -pool.task_shares.T], [np.zeros((n, 1)), np.eye(n)]]).tolist()

    def double_description() -> np.ndarray:
        matrix = cdd.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
        return np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)[:, 1:]

    double_description()
    theirs, seconds = timed(double_description)
    ours, own = settled(lambda: np.array(stability_region(pool).vertices, dtype=float))
    numbers = [[float(len(v)), float(np.sum(v))] for v in (theirs, ours)]
    return Found(version("pycddlib"), (numbers[0], numbers[1]), (seconds, own), "exact fractions here")


def line_discriminatory_sharing(cutoff: int) -> Found:
    """Weights 2 and 1 on one resource, discriminatory processor sharing: the chain, solved by both."""
    from line_solver import Exp, Network, OpenClass, Queue, SchedStrategy, Sink, Source

    model = Network("weights")
    source = Source(model, "source")
    queue = Queue(model, "queue", SchedStrategy.DPS)
    sink = Sink(model, "sink")
    for name, weight, rate, size in (("A", 2, 0.2, 1.0), ("B", 1, 0.1, 2.0)):
        job = OpenClass(model, name)
        source.setArrival(job, Exp(rate))
        queue.setService(job, Exp(1 / size), weight)
    model.link(Network.serialRouting(source, queue, sink))
    jobs, theirs = timed(lambda: line_mean_jobs(model, cutoff))
    pool = Problem([[1], [1]], [1], weights=[2, 1])
    system = System(pool, arrival_rates=[0.2, 0.1], mean_sizes=[1.0, 2.0])
    law, ours = settled(lambda: stationary(system, DRF()))
    return Found(version("line-solver"), (jobs, list(law.mean_jobs)), (theirs, ours))


def line_two_resources(side: int) -> Found:
    """DRF of two resources: there its rates are written by hand, as a function of the whole state."""
    from line_solver import Disabled, Exp, Network, OpenClass, Queue, SchedStrategy, Sink, Source

    rate = 0.7
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
    law, ours = settled(lambda: stationary(system, DRF(), shape=side + 1))
    return Found(version("line-solver"), (found, list(law.mean_jobs)), (theirs, ours))


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


def simgrid_network(flows: tuple[int, int]) -> Found:
    """So many flows on so many links, routes of five, or of one and two where there are two links."""
    import simgrid

    n, m = flows
    routes = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]) if m == 2 else routes_of_five(n, m).toarray()
    capacities = [1.0, 2.0] if m == 2 else np.random.default_rng(1).uniform(0.5, 1.5, m).tolist()
    options = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0"]
    engine = simgrid.Engine(["x", *(f"--cfg={o}" for o in options), "--log=root.thres:critical"])
    zone = simgrid.NetZone.create_full_zone("zone")
    hosts = [zone.create_host(f"host {k}", 1e9) for k in range(2 * n)]
    links = [zone.create_link(f"link {j}", rate).seal() for j, rate in enumerate(capacities)]
    for k, route in enumerate(routes):
        points = hosts[2 * k].netpoint, hosts[2 * k + 1].netpoint
        taken = [simgrid.LinkInRoute(links[j]) for j in np.flatnonzero(route)]
        zone.add_route(*points, None, None, taken, True)
    zone.seal()
    rates: list[float] = []
    spent: list[float] = []

    def watch() -> None:
        sent = [simgrid.Comm.sendto_init(hosts[2 * k], hosts[2 * k + 1]) for k in range(n)]
        for comm in sent:
            comm.set_payload_size(1_000_000)
            comm.start()
        _, seconds = timed(lambda: simgrid.this_actor.sleep_for(1_000))
        spent.append(seconds)
        rates.extend((1_000_000 - comm.remaining) / 1_000 for comm in sent)
        for comm in sent:
            comm.cancel()

    simgrid.Actor.create("watch", hosts[0], watch)
    engine.run()
    pool = Problem(routes, capacities)
    shares, ours = settled(lambda: allocate(pool, MaxMin()))
    return Found(
        str(simgrid.simgrid_version), (rates, list(shares.tasks)), (spent[0], ours), "certified here"
    )


def simgrid_bottlenecks(n: int) -> Found:
    """So many parallel tasks on two hosts, shared by SimGrid's BMF solver: when the first one ends."""
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
    demands += np.random.default_rng(1).uniform(1.0, 4.0, (n - 3, 2)).tolist()
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
    shares, ours = settled(lambda: allocate(pool, BottleneckMax()))
    return Found(str(simgrid.simgrid_version), ([min(ends)], [1 / float(shares.tasks.max())]), (theirs, ours))


def storm_chain(side: int) -> Found:
    """Chain of DRF on a square of states, written for Storm: mean jobs of the first class, sound there."""
    import stormpy

    system = System.with_load(Problem([[10, 1], [1, 10]], [11, 11]), [1, 1], 0.7)
    counts = np.indices((side, side)).reshape(2, -1)
    chain = FiniteChain(generator(system, DRF(), side), rewards={"A": counts[0], "B": counts[1]})
    with tempfile.TemporaryDirectory() as folder:
        (file,) = write_chain(chain, Path(folder) / "drf", kinds=["storm"])
        model = stormpy.build_model_from_drn(str(file))
    asked = stormpy.parse_properties('R{"A"}=? [ LRA ]')[0]
    environment = stormpy.Environment()
    environment.solver().force_soundness = True
    result, theirs = timed(lambda: stormpy.model_checking(model, asked, environment=environment))
    bounds, ours = settled(lambda: enclose_chain(chain, ["A"]).bounds("A"))
    low, high = bounds
    note = f"bounds proved here, {(high - low) / low:.0e} apart"
    return Found(stormpy.__version__, ([float(result.get_value(0))], [low]), (theirs, ours), note)


def cvxpy_proportional(shape: tuple[int, int]) -> Found:
    """Proportional fairness of so many classes on so many resources, by cvxpy and Clarabel."""
    import cvxpy

    pool = Problem(np.random.default_rng(1).uniform(0.1, 1, shape), np.ones(shape[1]))
    tasks = cvxpy.Variable(shape[0])
    program = cvxpy.Problem(
        cvxpy.Maximize(cvxpy.sum(cvxpy.log(tasks))), [pool.demands.T @ tasks <= pool.capacities]
    )
    # As precise as here; where the solver stops before, it says so.
    precise = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"), 1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, theirs = timed(lambda: program.solve(solver="CLARABEL", **precise))
    shares, ours = settled(lambda: allocate(pool, ProportionalFair()))
    note = f"Clarabel, 1e-13 asked: {program.status}; duality gap here {shares.certificate.duality_gap:.0e}"
    return Found(cvxpy.__version__, (list(tasks.value), list(shares.tasks)), (theirs, ours), note)


CASES = {
    # Some 200,000 jobs, which wait together: a mean is right to a few percent.
    "ciw": Case("processor sharing, {} classes", "ciw", ciw_processor_sharing, (2, 4, 8), 0.08),
    "simpy": Case("waiting for {} servers, in order", "simpy", simpy_servers, (4, 16, 64), 0.05),
    "quantecon": Case("law of {} x {} states", "quantecon", quantecon_chain, (10, 20, 31), 1e-9),
    # Both cut the chain off, LINE at so many jobs.
    "line": Case(
        "weights 2 and 1 on one resource, LINE up to {} jobs",
        "line-solver",
        line_discriminatory_sharing,
        (20, 30, 40),
        1e-5,
    ),
    "line-drf": Case(
        "DRF on two resources, rates by hand, up to {} jobs",
        "line-solver",
        line_two_resources,
        (15, 22, 30),
        1e-6,
    ),
    "simgrid": Case(
        "max-min, {} flows on {} links",
        "simgrid",
        simgrid_network,
        ((3, 2), (1_000, 100), (5_000, 500)),
        1e-4,
    ),
    "simgrid-bmf": Case("BMF of {} jobs on two resources", "simgrid", simgrid_bottlenecks, (3, 10, 30), 1e-6),
    "storm": Case("chain of DRF, {} x {} states", "stormpy", storm_chain, (30, 60, 120), 1e-6),
    "cdd": Case(
        "vertices of {} classes on 8 resources", "pycddlib-standalone", cdd_vertices, (4, 8, 12), 1e-9
    ),
    # Clarabel stops at some 1e-8 of the objective, which is flat at the optimum.
    "cvxpy": Case(
        "PF, {} classes on {} resources",
        "cvxpy",
        cvxpy_proportional,
        ((100, 20), (1_000, 100), (5_000, 200)),
        1e-3,
    ),
}


def compare(name: str, size: Any) -> Found | str:
    """What a case found, in a process of its own; or why it could not run."""
    asked = json.dumps([name, size])
    command = [sys.executable, "-m", "benchmarks.comparison", "--alone", asked]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"no end in {PATIENCE:.0f} s"
    if done.returncode == 0:
        return Found(**json.loads(done.stdout.splitlines()[-1]))
    if "ImportError" in done.stderr or "ModuleNotFoundError" in done.stderr:
        return f"not to be imported ({done.stderr.splitlines()[-1]}): pip install {CASES[name].package}"
    raise RuntimeError(f"{name}:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Print a line per case and size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    parser.add_argument("--alone", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        name, size = arguments.alone
        print(json.dumps(asdict(CASES[name].run(size))))
        return 0
    if wrong := [tool for tool in arguments.tools if tool not in CASES]:
        parser.error(f"unknown: {', '.join(wrong)}; choose from {', '.join(CASES)}")
    missed = 0
    table = ["| model | tool | largest relative difference | there | here | |", "|---|---|---|---|---|---|"]
    for name in arguments.tools or CASES:
        case = CASES[name]
        for size in case.sizes:
            model, found = case.called(size), compare(name, size)
            if isinstance(found, str):
                print(f"{model:54} {name}: {found}", flush=True)
                continue
            equal = found.gap <= case.most
            missed += not equal
            mark = "" if equal else f"MISSED: at most {case.most:.0e}; "
            theirs, ours = (f"{seconds:.2g} s" for seconds in found.seconds)
            cells = (model, f"{name} {found.version}", f"{found.gap:.0e}", theirs, ours, mark + found.note)
            print(f"{cells[0]:54} {cells[1]:20} {'; '.join(cells[2:])}", flush=True)
            table.append(f"| {' | '.join(cells)} |")
    if arguments.page is not None:
        replace_section(arguments.page, "### All of them", table)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
