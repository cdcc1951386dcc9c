"""What a seed may be, everywhere the same; and every result says which one it was drawn with."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairness
from capacity import Simulated, load_curves, region_volume, solve, stability_region, sweep
from capacity.boundaries.growth_tests import simulation_test
from capacity.means.simulations import BySimulation
from capacity.studies.instability import RandomSystems, search_instability
from fairness import (
    DRF,
    PSDSF,
    AssetFair,
    Cluster,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
    audit,
    distributed_psdsf,
)
from fairness.arguments.validation import A_GENERATOR, entropy_of, generator, spawned
from fairness.cloud import HARD_FAMILIES, churned, demand_profile
from fairness.display.storage import dumps, loads
from fairness.indivisible import fill_cluster, fill_tasks, repeat_filling
from fairness.properties import property_named, search
from fairness.testing import check_policy, random_cluster, random_problem
from fairness.timed.tdrf import integer_tdrf
from fairness.timed.timeline import timeline
from queueing import (
    ClusterTrace,
    NodeList,
    RandomFit,
    System,
    Tasks,
    balanced_fairness,
    fluid_verdict,
    replay,
    simulate,
    task_trace,
)
from queueing.fluid.circulation import circulate
from queueing.simulation.replications import spawn_streams
from queueing.simulation.tasks.schedulers import FIFOScheduler

POOL = Problem([[10, 1], [1, 10]], [10, 10])
SERVERS = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])
SYSTEM = System(POOL, [0.3, 0.3])
THREE = System(Problem([[1, 1], [1, 0], [0, 1]], [1, 1]), [0.2, 0.3, 0.3])

RECORDED = ClusterTrace(["CPU"], ["cores"], [0, 1], [3, 3], [[1]], [0, 0], ["u"], [0, 0])
NODES = NodeList(["a", "b"], ["CPU"], ["cores"], [[1], [1]])


def _system(load: float) -> System:
    return System.with_load(POOL, [1, 1], load)


def _drawn(system: System, policy: Any, rng: np.random.Generator) -> dict[str, float]:
    return {"drawn": rng.random()}


REPORTING: dict[str, Callable[..., Any]] = {
    "fairness.indivisible.cluster.fill_cluster": partial(fill_cluster, SERVERS),
    "fairness.indivisible.pool.fill_tasks": partial(fill_tasks, POOL, ties="random"),
    "fairness.indivisible.runs.repeat_filling": partial(repeat_filling, SERVERS, runs=2),
    "fairness.policies.servers.distributed.distributed_psdsf": partial(distributed_psdsf, SERVERS, 5),
    "fairness.timed.tdrf.integer_tdrf": partial(integer_tdrf, POOL, [0, 0], ties="random"),
    "fairness.timed.timeline.timeline": partial(
        timeline, [[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 0], capacities=[1, 1], ties="random"
    ),
    "fairness.properties.counterexamples.search.search": partial(
        search, AssetFair(), property_named("EF"), budget=200
    ),
    "fairness.properties.protocol.property.Property.of": partial(
        property_named("SP").of, AssetFair(), POOL, changes=5
    ),
    "queueing.fluid.circulation.circulate": partial(circulate, POOL),
    "queueing.fluid.verdict.fluid_verdict": partial(fluid_verdict, THREE, MaxMin(), theorems=False, starts=2),
    "queueing.replays.replay.replay": partial(
        replay, RECORDED, NODES, FIFOScheduler(), placement=RandomFit()
    ),
    "capacity.curves.solve.solve": partial(
        solve, SYSTEM, [ProportionalFair()], seconds=300, precision=10.0, methods=[BySimulation()]
    ),
    "queueing.simulation.simulate.simulate": partial(simulate, SYSTEM, DRF(), events=200, replications=2),
    "queueing.simulation.tasks.record.task_trace": partial(
        task_trace, SYSTEM, FIFOScheduler(), 20, tasks=Tasks(per_job=2)
    ),
    "capacity.boundaries.growth_tests.simulation_test": partial(simulation_test, SYSTEM, DRF(), events=200),
    "capacity.many_classes.volume_estimate.region_volume": partial(
        region_volume, stability_region(THREE.problem), precision=0.2
    ),
    "capacity.studies.instability.search_instability": partial(
        search_instability, DRF(), RandomSystems(2, 2, (0.5, 0.6)), 1
    ),
}
"""Public functions whose result has ``entropy``."""

OWN_WAY: dict[str, Callable[..., Any]] = {
    # A Dataset: attrs["entropy"], as text.
    "capacity.sweeping.sweep.sweep": partial(
        sweep, _system, {"DRF": DRF()}, {"load": [0.5]}, _drawn, progress=False
    ),
    # Its streams are children of the seed, whatever was drawn from a generator. No chain fits: it simulates.
    "capacity.curves.load_curves.load_curves": partial(
        load_curves, SYSTEM, [ProportionalFair()], [0.3], max_states=20, events=2_000, precision=10.0
    ),
    # Draws a number from a generator, and reports that.
    "fairness.properties.counterexamples.audit.audit": partial(audit, [DRF()], ["SI"], budget=20),
    # A setting, which holds the seed.
    "capacity.boundaries.service_simulation.Simulated": partial(Simulated, DRF()),
}

SILENT: dict[str, Callable[..., Any]] = {
    # Plain demands, models and arrays.
    **{
        f"fairness.cloud.instances.families.{name}": partial(family, 4, 6)
        for name, family in HARD_FAMILIES.items()
    },
    "fairness.cloud.instances.churn.churned": lambda rng: churned(
        demand_profile("G0", 4, 6, longest=6, rng=1), rng=rng
    ),
    "fairness.cloud.instances.profiles.demand_profile": partial(demand_profile, "G0", 4, 6, longest=6),
    "fairness.testing.instances.random_cluster": partial(
        random_cluster, n_classes=2, n_servers=2, n_resources=2
    ),
    "fairness.testing.instances.random_problem": partial(random_problem, n_classes=2, n_resources=2),
    "queueing.balanced.fairness.BalancedFairness.sample": lambda rng: balanced_fairness(SYSTEM).sample(
        2, rng=rng
    ),
    # Nothing; its default seed is 0.
    "fairness.testing.battery.check_policy": partial(check_policy, PSDSF(), instances=1),
    # Generators, whose parent the caller reports.
    "fairness.arguments.validation.generator": generator,
    "fairness.arguments.validation.spawned": partial(spawned, count=2),
    "queueing.simulation.replications.spawn_streams": partial(spawn_streams, replications=2),
}

PLACES = REPORTING | OWN_WAY | SILENT
HANDED_ON = {"queueing.simulation.sampling.Effort", "capacity.means.method.Effort"}
"""Hold the seed that ``simulate``, ``solve`` or ``load_curves`` was given."""


def _takers() -> Iterator[tuple[str, inspect.Parameter]]:
    """Public functions, methods and classes with a parameter ``rng``, by where they are defined."""
    for package in map(importlib.import_module, ("fairness", "queueing", "capacity")):
        names = [one.name for one in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
        for name in names:
            if name.endswith("__main__"):
                continue
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                thing = getattr(module, public)
                inner = (
                    [getattr(thing, k) for k in vars(thing) if k[0] != "_"] if inspect.isclass(thing) else []
                )
                for one in (thing, *(method for method in inner if callable(method))):
                    try:
                        found = inspect.signature(one).parameters.get("rng")
                    except (TypeError, ValueError):
                        continue
                    if found is not None:
                        yield f"{one.__module__}.{one.__qualname__}", found


def test_every_public_function_that_draws_is_listed() -> None:
    # Who takes a Generator only is handed one by a function that takes a seed, and that one reports it.
    given = ("np.random.Generator", "np.random.Generator | None")
    found = {name for name, rng in _takers() if rng.annotation not in given}
    assert found == {*PLACES, *HANDED_ON}


BAD: dict[str, Any] = {
    "negative": -1,
    "text": "abc",
    "bytes": b"12",
    "fraction": Fraction(1, 2),
    "float": 1.0,
    "boolean": True,
    "complex": 1j,
    "NaN": np.nan,
    "negative among several": [1, -2],
    "floats": [1.5],
    "float array": np.ones(2),
    # numpy's own default_rng reads a matrix until the process dies of it
    "matrix": np.asmatrix([[1, 2], [3, 4]]),
    "table": np.ones((2, 2), int),
    "masked": np.ma.masked_array([1, 2], [False, True]),
    "set": {1, 2},
    "legacy module": np.random,
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_seed_is_refused(place: str) -> None:
    for rng in BAD.values():
        with pytest.raises(ModelError, match=r"^rng must be"):
            PLACES[place](rng=rng)


def test_the_remedy_works() -> None:
    with pytest.raises(ModelError, match=re.escape("for example rng=1; got 'abc'")):
        generator("abc")  # type: ignore[arg-type]
    assert generator(1).random() == np.random.default_rng(1).random()


@pytest.mark.parametrize(
    "rng",
    [0, 2**200, np.int64(3), [1, 2], (1, 2), range(3), [], np.array([1, 2]), np.random.SeedSequence(5)],
    ids=str,
)
def test_seeds_draw_what_numpy_draws_from_them(rng: Any) -> None:
    assert generator(rng).random() == np.random.default_rng(rng).random()


def test_generators_go_through_and_none_is_new() -> None:
    stream = np.random.default_rng(1)
    assert generator(stream) is stream
    assert generator(np.random.PCG64(1)).random() == np.random.default_rng(1).random()
    assert generator(None).random() != generator(None).random()  # two of 2**53 numbers


def test_a_generator_that_cannot_spawn_is_named() -> None:
    legacy = np.random.RandomState(1)
    with pytest.raises(ModelError, match="rng must be None, a seed or a numpy Generator that can spawn"):
        repeat_filling(SERVERS, runs=2, rng=legacy)
    with pytest.raises(ModelError, match="rng must be None, a seed or a numpy Generator that can spawn"):
        simulate(SYSTEM, DRF(), events=200, replications=2, rng=legacy)


def test_no_other_place_reads_a_seed() -> None:
    """Whatever takes ``rng`` takes it through ``generator``: numpy's own is called with inner seeds only."""
    root = Path(fairness.__file__).parents[1]
    called = {
        f"{path.relative_to(root).as_posix()}: {line.strip()}"
        for package in ("fairness", "queueing", "capacity", "proofs", "fairqueues")
        for path in (root / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"default_rng\((?!\d+\))(?!.*\bseed\b)(?!\[settings)", line) and ">>>" not in line
    }
    assert {place.split(":")[0] for place in called} <= {"fairness/arguments/validation.py"}


def _plain(value: Any) -> Any:
    """A result as nested lists that can be compared, the seconds that it took left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, one.name)) for one in fields(value) if one.name != "seconds"]
    if isinstance(value, dict):
        return [[repr(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return repr(value)


@pytest.mark.parametrize("name", REPORTING)
def test_the_entropy_that_a_result_says_repeats_it(name: str) -> None:
    call = REPORTING[name]
    first, other = call(rng=None), call(rng=None)
    assert isinstance(first.entropy, int)
    assert first.entropy != other.entropy  # two of 2**128 numbers
    assert _plain(call(rng=first.entropy)) == _plain(first)
    for seed in (7, [7, 8]):
        assert call(rng=seed).entropy == seed
    # A fresh generator is as its seed left it; one that was used is not, and its result does not say so.
    fresh, used = np.random.default_rng(7), np.random.default_rng(7)
    used.random()
    assert _plain(call(rng=fresh)) == _plain(call(rng=7))
    assert call(rng=used).entropy == call(rng=fresh).entropy == A_GENERATOR


def test_deterministic_answers_name_no_seed() -> None:
    assert fluid_verdict(SYSTEM, DRF(), theorems=False).entropy is None
    assert circulate(POOL, start=[[1, 0], [0, 1]]).entropy is None
    assert simulation_test(System(POOL, [1.0, 1.0]), DRF()).entropy is None


def test_what_reports_in_its_own_way() -> None:
    one = audit([DRF()], ["SI"], budget=20, rng=np.random.default_rng(1))
    again = audit([DRF()], ["SI"], budget=20, rng=one.entropy)
    assert _plain(one.cells) == _plain(again.cells)
    cell = one.cells["DRF", "sharing incentive"]
    assert loads(dumps(cell)).entropy == cell.entropy
    assert search(DRF(), property_named("SI"), budget=20, rng=cell.entropy).best == cell.best
    assert Simulated(DRF(), rng=3).rng == 3

    def of(rng: Any) -> str:
        """What a sweep says of its streams."""
        return str(OWN_WAY["capacity.sweeping.sweep.sweep"](rng=rng).attrs["entropy"])

    parent = np.random.default_rng(7)
    assert of(7) == of(parent) == "7"
    assert of(parent) == of(np.random.default_rng(7).spawn(1)[0]) == A_GENERATOR

    curves = OWN_WAY["capacity.curves.load_curves.load_curves"]
    parent = np.random.default_rng(7)
    first = curves(rng=parent)
    assert first.entropy == 7
    assert _plain(curves(rng=7).mean_jobs) == _plain(first.mean_jobs)
    assert curves(rng=parent).entropy == A_GENERATOR
    assert curves(rng=[7, 8]).entropy == [7, 8]
    drawn = curves(rng=None)
    assert _plain(curves(rng=drawn.entropy).mean_jobs) == _plain(drawn.mean_jobs)


@pytest.mark.parametrize(
    "stream",
    [
        np.random.Generator(np.random.MT19937(1)),
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(1, pool_size=8))),
        np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0,))),
        np.random.Generator(np.random.RandomState(1)._bit_generator),
    ],
)
def test_what_no_seed_makes_is_called_a_generator(stream: np.random.Generator) -> None:
    assert entropy_of(stream) == A_GENERATOR


def test_asking_changes_nothing() -> None:
    for seed in (0, 2**200, [1, 2], []):
        stream = generator(seed)
        assert entropy_of(stream) == entropy_of(stream) == seed
        assert stream.random() == generator(seed).random()
