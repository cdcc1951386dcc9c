"""Every result says which seed it was drawn with, and what it says gives the same result again."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from capacity import Simulated, sweep
from capacity.boundaries.growth_tests import simulation_test
from capacity.studies.instability import RandomSystems, search_instability
from fairness import DRF, AssetFair, Cluster, Problem, ProportionalFair, audit, distributed_psdsf
from fairness.arguments.validation import A_GENERATOR, entropy_of, generator
from fairness.display.storage import dumps, loads
from fairness.indivisible import fill_cluster, fill_tasks, repeat_filling
from fairness.properties import property_named, search
from fairness.timed.tdrf import integer_tdrf
from fairness.timed.timeline import timeline
from queueing import System, Tasks, fluid_verdict, simulate, task_trace
from queueing.fluid.circulation import circulate
from queueing.simulation.tasks.rules.schedulers import FIFOScheduler

POOL = Problem([[10, 1], [1, 10]], [10, 10])
SERVERS = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])
SYSTEM = System(POOL, [0.3, 0.3])
THREE = System(Problem([[1, 1], [1, 0], [0, 1]], [1, 1]), [0.2, 0.3, 0.3])

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
    "queueing.fluid.verdict.fluid_verdict": partial(
        fluid_verdict, THREE, ProportionalFair(), theorems=False, starts=2
    ),
    "queueing.simulation.verb.simulate": partial(simulate, SYSTEM, DRF(), events=200, replications=2),
    "queueing.simulation.tasks.record.task_trace": partial(
        task_trace, SYSTEM, FIFOScheduler(), 20, tasks=Tasks(per_job=2)
    ),
    "capacity.boundaries.growth_tests.simulation_test": partial(simulation_test, SYSTEM, DRF(), events=200),
    "capacity.studies.instability.search_instability": partial(
        search_instability, DRF(), RandomSystems(2, 2, (0.5, 0.6)), 1
    ),
}
"""Public functions whose result has ``entropy``."""

OWN_WAY = {
    "capacity.sweeping.sweep.sweep": "a Dataset: attrs['entropy'], as text",
    "fairness.properties.counterexamples.audit.audit": "draws a number from a generator, and reports that",
    "capacity.boundaries.service_simulation.Simulated": "a setting, which holds the seed",
    "queueing.simulation.sampling.Effort": "a setting, which holds the seed",
}

SILENT = {
    "fairness.cloud.instances.churn.churned": "plain demands",
    "fairness.cloud.instances.families.chain": "plain demands",
    "fairness.cloud.instances.families.decades": "plain demands",
    "fairness.cloud.instances.families.hot": "plain demands",
    "fairness.cloud.instances.families.identical": "plain demands",
    "fairness.cloud.instances.families.popular": "plain demands",
    "fairness.cloud.instances.families.single": "plain demands",
    "fairness.cloud.instances.families.ties": "plain demands",
    "fairness.cloud.instances.profiles.demand_profile": "plain demands",
    "fairness.indivisible.turns.make_ties": "holds the generator that its caller reports",
    "fairness.testing.battery.check_policy": "returns nothing; its default seed is 0",
    "fairness.testing.instances.random_cluster": "a plain Cluster",
    "fairness.testing.instances.random_problem": "a plain Problem",
    "fairness.arguments.validation.generator": "makes the generator",
    "fairness.arguments.validation.spawned": "makes generators; the caller reports their parent",
    "queueing.balanced.fairness.BalancedFairness.sample": "a plain array",
    "queueing.simulation.replications.spawn_streams": "Streams, internal; the simulators report it",
}


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
    assert found == {*REPORTING, *OWN_WAY, *SILENT}


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


def _system(load: float) -> System:
    return System.with_load(POOL, [1, 1], load)


def _drawn(system: System, policy: Any, rng: np.random.Generator) -> dict[str, float]:
    return {"drawn": rng.random()}


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
        result = sweep(_system, {"DRF": DRF()}, {"load": [0.5]}, _drawn, rng=rng, progress=False)
        return str(result.attrs["entropy"])

    parent = np.random.default_rng(7)
    assert of(7) == of(parent) == "7"
    assert of(parent) == of(np.random.default_rng(7).spawn(1)[0]) == A_GENERATOR


@pytest.mark.parametrize(
    "stream",
    [
        np.random.Generator(np.random.MT19937(1)),
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(1, pool_size=8))),
        np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0,))),
        np.random.default_rng(np.random.RandomState(1)),
    ],
)
def test_what_no_seed_makes_is_called_a_generator(stream: np.random.Generator) -> None:
    assert entropy_of(stream) == A_GENERATOR


def test_asking_changes_nothing() -> None:
    for seed in (0, 2**200, [1, 2], []):
        stream = generator(seed)
        assert entropy_of(stream) == entropy_of(stream) == seed
        assert stream.random() == generator(seed).random()
