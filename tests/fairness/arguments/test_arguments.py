"""Arguments that numpy would take for numbers, and numbers that are out of all range, are refused by name."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import capacity
import fairness
import proofs
import queueing
from capacity import provision, service_boundary, stability_region
from capacity.studies.instability import RandomSystems
from fairness import DRF, PSDSF, AlphaFair, Cluster, ModelError, Problem, allocate, distributed_psdsf
from fairness.errors import advised
from fairness.indivisible import repeat_filling
from queueing import (
    System,
    admission,
    balanced_fairness,
    drift,
    simulate,
    stationary,
    tabulate,
    tagged_duration,
    trajectory,
    transient,
)
from queueing.model.laws import Empirical

POOL = Problem([[10, 1], [1, 10]], [10, 10])
SYSTEM = System(POOL, [0.3, 0.3])
SERVERS = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])

MASKED = np.ma.masked_array([1.0, 2.0], [False, True])
FOREIGN: dict[str, Any] = {
    "masked": MASKED,
    "masked without a mask": np.ma.masked_array([1.0, 2.0]),
    "masked entry": [1.0, np.ma.masked],
    "complex": np.array([1, 2j]),
    "complex list": [1, 2j],
    "complex objects": np.array([1, 2j], dtype=object),
    "bytes": b"12",
    "bytearray": bytearray(b"12"),
    "memory": memoryview(b"12"),
    "list of bytes": [b"1", b"2"],
    "bytes array": np.array([b"1", b"2"]),
    "text": ["1", "2"],
    "dates": np.array(["2020", "2021"], dtype="M8[Y]"),
    "spans": np.array([1, 2], dtype="m8[s]"),
    "set": {1, 2},
    "dict": {"A": 1, "B": 2},
}

ARRAYS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "demands": ("demands", lambda v: Problem(v, [1])),
    "row of demands": ("demands", lambda v: Problem([v], [1, 1])),
    "capacities": ("capacities", lambda v: Problem([[1, 1]], v)),
    "weights": ("weights", lambda v: Problem([[1], [1]], [1], weights=v)),
    "limits": ("limits", lambda v: Problem([[1], [1]], [1], limits=v)),
    "eligible": ("eligible", lambda v: Cluster([[1]], [[1], [1]], eligible=v)),
    "gamma": ("gamma", lambda v: Cluster([[1]], [[1], [1]], gamma=v)),
    "counts": ("counts", lambda v: allocate(POOL, DRF(), v)),
    "counts of a policy": ("counts", lambda v: DRF()(POOL, v)),
    "counts on servers": ("counts", lambda v: PSDSF()(SERVERS, v)),
    "arrival rates": ("arrival_rates", lambda v: System(POOL, v)),
    "mean sizes": ("mean_sizes", lambda v: System(POOL, [1, 1], v)),
    "mix": ("mix", lambda v: System.with_load(POOL, v, 0.5)),
    "drift": ("counts", lambda v: drift(SYSTEM, DRF(), v)),
    "trajectory": ("counts", lambda v: trajectory(SYSTEM, DRF(), v)),
    "start": ("counts", lambda v: simulate(SYSTEM, DRF(), events=100, replications=2, start=v)),
    "loads": ("loads", lambda v: stability_region(POOL).contains(v)),
    "direction": ("direction", lambda v: service_boundary(POOL, "bound", 0.2, v)),
    "costs": ("costs", lambda v: provision([[1, 4], [3, 1]], [1, 2], v, maximum_duration=9)),
    "durations": ("maximum_duration", lambda v: provision([[1]], [1], [1], maximum_duration=v)),
    "shape": ("shape", lambda v: tabulate(POOL, DRF(), v)),
    "times": ("times", lambda v: transient(SYSTEM, DRF(), v, shape=4)),
    "resource weights": ("resource_weights", lambda v: DRF(v)),
    "values": ("values", lambda v: Empirical(v)),
    "mean jobs": ("mean_jobs", lambda v: SYSTEM.mean_durations(v)),
}


@pytest.mark.parametrize("place", ARRAYS)
def test_what_is_no_array_of_numbers_is_refused(place: str) -> None:
    name, call = ARRAYS[place]
    for given in FOREIGN.values():
        with pytest.raises(ModelError, match=rf"\b{name}\b"):
            call(given)


@pytest.mark.long
def test_the_remedies_work() -> None:
    with pytest.raises(ModelError, match=r"filled\(0\)"):
        Problem([[1], [1]], [1], weights=MASKED)
    assert Problem([[1], [1]], [1], weights=MASKED.filled(3)).weights.tolist() == [1, 3]
    assert np.frombuffer(b"12", dtype=np.uint8).sum() == ord("1") + ord("2")
    assert stationary(SYSTEM, DRF(), tail=1e-250).tail_mass < 1e-200


BUY: dict[str, Any] = {"demands": [[1, 4], [3, 1]], "loads": [1, 2], "costs": [1, 1], "maximum_duration": 9}
HUGE = 10**400

NUMBERS: list[tuple[str, Any, Callable[[Any], object]]] = [
    *(("tail", v, lambda v: stationary(SYSTEM, DRF(), tail=v)) for v in (5e-324, 1e-320, 0, "x", 1j)),
    *(("tail", v, lambda v: tagged_duration(SYSTEM, DRF(), 0, tail=v)) for v in (5e-324, "x")),
    *(("max_states", v, lambda v: stationary(SYSTEM, DRF(), max_states=v)) for v in ("x", [1], -1, np.nan)),
    *(("max_states", v, lambda v: balanced_fairness(SYSTEM, max_states=v)) for v in ("x", None, [1], np.nan)),
    *(("max_states", v, lambda v: provision(**BUY, max_states=v)) for v in ("x", 0, [1], np.nan)),
    *(("whole", v, lambda v: provision(**BUY, whole=v)) for v in (-1, 2, "x", None, 1.0, HUGE)),
    *(("precision", v, lambda v: provision(**BUY, precision=v)) for v in ("x", 1j, [1], 0)),
    *(("maximum_load", v, lambda v: provision(**BUY, maximum_load=v)) for v in ("x", None, 5e-324, 2)),
    *(
        ("precision", v, lambda v: service_boundary(POOL, "bound", 0.2, [1, 1], precision=v))
        for v in ("x", 0)
    ),
    *(("max_jobs", v, lambda v: admission(SYSTEM, DRF(), max_jobs=v)) for v in (b"12", HUGE, "12")),
    *(("max_total", v, lambda v: admission(SYSTEM, DRF(), max_total=v)) for v in (HUGE, -1)),
    *(("size", v, lambda v: balanced_fairness(SYSTEM).sample(v)) for v in (HUGE, -1, "x")),
    *(("n_jobs", v, lambda v: tabulate(POOL, DRF(), 3, n_jobs=v)) for v in (HUGE, 0, True, "x")),
    *(("period", v, lambda v: distributed_psdsf(SERVERS, 5, period=v)) for v in (5e-324, HUGE, "x", True)),
    *(("sample_every", v, lambda v: distributed_psdsf(SERVERS, 5, sample_every=v)) for v in (5e-324, HUGE)),
    *(("horizon", v, lambda v: distributed_psdsf(SERVERS, v)) for v in (HUGE, np.inf, "x")),
    *(("delay", v, lambda v: distributed_psdsf(SERVERS, 5, delay=v)) for v in (HUGE, "x", -1)),
    *(("runs", v, lambda v: repeat_filling(SERVERS, runs=v)) for v in (HUGE, 1, "x")),
    *(("alpha", v, AlphaFair) for v in (HUGE, "x", -1)),
]


@pytest.mark.parametrize(("name", "value", "call"), NUMBERS, ids=lambda v: f"{v!r:.20}")
def test_numbers_out_of_range_are_refused(name: str, value: Any, call: Callable[[Any], object]) -> None:
    with pytest.raises(ModelError, match=rf"\b{name}\b"):
        call(value)


@pytest.mark.parametrize(
    ("make", "argument", "index"),
    [
        (lambda: Problem([[1, 2], [3, -1]], [9, 9]), "demands", (1, 1)),
        (lambda: Problem([[0, 0]], [9, 9]), "demands", (0,)),
        (lambda: Cluster([[1, 2]], [[9, np.inf]]), "capacities", (0, 1)),
        (lambda: Cluster([[1], [1]], [[9]], eligible=[[True], [False]]), "eligible", (1,)),
        (lambda: Problem([[1]], [9], weights=[1, 2]), "weights", ()),
        (lambda: POOL.check_counts([[1, 1], [1, -2]]), "counts", (1, 1)),
        (lambda: POOL.replaced(demand=3), "demand", ()),
        (lambda: System(POOL, [0.3, np.nan]), "arrival_rates", (1,)),
        (lambda: System.with_load(POOL, [0, 0], 0.5), "mix", ()),
        (lambda: Empirical([1, 0]), "values", (1,)),
        (lambda: Problem.from_dict({"demands": [[1, "x"]], "capacities": [1, 1]}), "demands", (0, 1)),
        (lambda: repeat_filling(SERVERS, runs=0), "runs", ()),
    ],
)
def test_errors_carry_the_argument_and_the_entry(make: Any, argument: str, index: tuple[int, ...]) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    copied = pickle.loads(pickle.dumps(caught.value))
    for error in (caught.value, copied):
        assert (error.argument, error.index) == (argument, index)
    assert str(copied) == str(caught.value)
    with pytest.raises(ModelError) as caught, advised("take more", argument):
        raise ModelError(f"too little; raise {argument}", argument=argument, index=index)
    assert str(caught.value) == "too little; take more"
    assert (caught.value.argument, caught.value.index) == (argument, index)


WORKERS: dict[str, Callable[[Any], object]] = {
    "fairness.audit": lambda n: fairness.audit([DRF()], ["SI"], budget=1, n_jobs=n),
    "queueing.tabulate": lambda n: queueing.tabulate(POOL, DRF(), 3, n_jobs=n),
    "queueing.simulate": lambda n: simulate(System(POOL, [0.1, 0.1]), DRF(), events=200, n_jobs=n),
    "capacity.sweep": lambda n: capacity.sweep(
        lambda k: System(POOL, [0.1, 0.1]), [DRF()], {"k": [1]}, ("tail_mass",), n_jobs=n
    ),
    "capacity.load_curves": lambda n: capacity.load_curves(System(POOL, [1, 1]), ["bound"], [0.3], n_jobs=n),
    "capacity.solve": lambda n: capacity.solve(System(POOL, [1, 1]), ["bound"], n_jobs=n),
    "capacity.region_volume": lambda n: capacity.region_volume(
        stability_region(POOL), precision=0.2, rng=1, n_jobs=n
    ),
    "capacity.search_instability": lambda n: capacity.search_instability(
        DRF(), RandomSystems(2, 2), 1, rng=1, n_jobs=n
    ),
    "proofs.check_all": lambda n: proofs.check_all(["br-feasible"], n_jobs=n),
}


@pytest.mark.parametrize("name", WORKERS)
def test_workers_are_counted_in_one_way(name: str) -> None:
    """A number >= 1, or -1 for all cores; joblib alone would take -3 for all but two, and True for one."""
    for wrong in (-3, True, 0, 1.5, "2", None, 10**9):
        if wrong is not None or name not in ("capacity.sweep", "capacity.load_curves"):
            with pytest.raises(
                ModelError, match=r"n_jobs counts workers: a positive integer .* or -1 for all cores; got"
            ):
                WORKERS[name](wrong)


def test_every_function_with_workers_is_asked() -> None:
    found = set()
    for package in (fairness, queueing, capacity, proofs):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isfunction(thing) and "n_jobs" in inspect.signature(thing).parameters:
                found.add(f"{package.__name__}.{name}")
    assert found == set(WORKERS)
