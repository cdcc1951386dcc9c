"""What a seed may be, everywhere the same; what else is given is refused before anything is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairness
from capacity.boundaries.growth_tests import simulation_test
from capacity.studies.instability import RandomSystems, search_instability
from fairness import DRF, PSDSF, Cluster, ModelError, Problem, ProportionalFair
from fairness.arguments.validation import generator, spawned
from fairness.cloud import HARD_FAMILIES, churned, demand_profile
from fairness.indivisible import fill_cluster, fill_tasks, repeat_filling
from fairness.policies.servers.distributed import distributed_psdsf
from fairness.properties import audit, property_named, search
from fairness.testing import check_policy, random_problem
from fairness.timed.tdrf import integer_tdrf
from fairness.timed.timeline import timeline
from queueing import System, balanced_fairness, fluid_verdict, simulate
from queueing.fluid.circulation import circulate

POOL = Problem([[10, 1], [1, 10]], [10, 10])
SERVERS = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])
SYSTEM = System(POOL, [0.3, 0.3])

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

PLACES: dict[str, Callable[[Any], object]] = {
    "generator": generator,
    "spawned": lambda rng: spawned(rng, 2),
    "distributed_psdsf": lambda rng: distributed_psdsf(SERVERS, 5, rng=rng),
    "integer_tdrf": lambda rng: integer_tdrf(POOL, [0, 0], rng=rng),
    "timeline": lambda rng: timeline([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 0], capacities=[1, 1], rng=rng),
    "fill_tasks": lambda rng: fill_tasks(POOL, rng=rng),
    "fill_cluster": lambda rng: fill_cluster(SERVERS, rng=rng),
    "repeat_filling": lambda rng: repeat_filling(SERVERS, runs=2, rng=rng),
    "check_policy": lambda rng: check_policy(DRF(), rng=rng, instances=1),
    "check_policy of clusters": lambda rng: check_policy(PSDSF(), rng=rng, instances=1),
    "random_problem": lambda rng: random_problem(rng, 2, 2),
    "search": lambda rng: search(DRF(), property_named("SI"), budget=2, rng=rng),
    "audit": lambda rng: audit([DRF()], ["SI"], budget=2, rng=rng),
    "Property.of": lambda rng: property_named("SI").of(DRF(), POOL, rng=rng),
    "demand_profile": lambda rng: demand_profile("G0", 4, 6, longest=6, rng=rng),
    "churned": lambda rng: churned(demand_profile("G0", 4, 6, longest=6, rng=1), rng=rng),
    **{name: lambda rng, family=family: family(4, 6, rng=rng) for name, family in HARD_FAMILIES.items()},
    "sample": lambda rng: balanced_fairness(SYSTEM).sample(2, rng=rng),
    "circulate": lambda rng: circulate(POOL, rng=rng),
    "fluid_verdict": lambda rng: fluid_verdict(SYSTEM, ProportionalFair(), rng=rng),
    "simulate": lambda rng: simulate(SYSTEM, DRF(), events=200, replications=2, rng=rng),
    "simulation_test": lambda rng: simulation_test(SYSTEM, DRF(), events=200, rng=rng),
    "search_instability": lambda rng: search_instability(DRF(), RandomSystems(2, 2, (0.5, 0.6)), 1, rng=rng),
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_seed_is_refused(place: str) -> None:
    for rng in BAD.values():
        with pytest.raises(ModelError, match=r"^rng must be"):
            PLACES[place](rng)


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
