"""Tables are read by their labels: a pool made of shuffled tables is the pool made of ordered arrays."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from capacity import policy_stability_boundary, provision, service_boundary, stability_region
from fairness import DRF, PSDSF, TSF, Cluster, ModelError, Problem, ProportionalFair, allocate
from fairness.evidence.pools import bottleneck_certificate
from fairness.indivisible import fill_tasks
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF, integer_tdrf
from fairness.timed.timeline import timeline
from queueing import System, drift, simulate, stationary, tabulate, trajectory, transient
from queueing.fluid.circulation import circulate

DEMANDS = pd.DataFrame([[1, 4], [3, 1]], index=["A", "B"], columns=["cpu", "ram"])
CAPACITIES = pd.Series({"ram": 18, "cpu": 9})  # the other order
WEIGHTS = pd.Series({"B": 2.0, "A": 1.0})
LIMITS = pd.Series({"B": 7.0, "A": 5.0})
RATES = pd.Series({"B": 0.5, "A": 1.0})
POOL = Problem(DEMANDS, CAPACITIES)
PLAIN = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
SYSTEM = System(POOL, RATES)
SERVERS = pd.DataFrame([[12, 9], [6, 12]], index=["s1", "s2"], columns=["ram", "cpu"])
GAMMA = pd.DataFrame({"s2": {"B": 4.0, "A": 1.5}, "s1": {"B": 3.0, "A": 3.0}})
ALLOWED = pd.DataFrame({"s2": {"B": True, "A": False}, "s1": {"B": True, "A": True}})
CLUSTER = Cluster(DEMANDS, SERVERS, weights=WEIGHTS)


def test_capacities_and_vectors_follow_their_labels() -> None:
    pool = Problem(DEMANDS, CAPACITIES, weights=WEIGHTS, limits=LIMITS)
    assert (pool.job_classes, pool.resources) == (("A", "B"), ("cpu", "ram"))
    assert pool.capacities.tolist() == [9, 18]
    assert (pool.weights.tolist(), pool.limits.tolist()) == ([1, 2], [5, 7])
    assert pool.as_fractions()[1] == [9, 18]


def test_a_cluster_aligns_servers_too() -> None:
    cluster = Cluster(DEMANDS, SERVERS, weights=WEIGHTS, gamma=GAMMA)
    assert cluster.servers == ("s1", "s2")
    assert cluster.capacities.tolist() == [[9, 12], [12, 6]]
    assert (cluster.gamma.tolist(), cluster.weights.tolist()) == ([[3, 1.5], [3, 4]], [1, 2])
    limited = Cluster(DEMANDS, SERVERS, eligible=ALLOWED)
    assert limited.eligible.tolist() == [[True, False], [True, True]]


def test_explicit_names_fix_the_order() -> None:
    pool = Problem(DEMANDS, CAPACITIES, job_classes=["B", "A"], resources=["ram", "cpu"])
    assert (pool.demands.tolist(), pool.capacities.tolist()) == ([[1, 3], [4, 1]], [18, 9])
    with pytest.raises(ModelError, match="labels of demands must be the job_classes 'C', 'D'"):
        Problem(DEMANDS, CAPACITIES, job_classes=["C", "D"])


def test_arrays_without_labels_take_the_names_of_the_others() -> None:
    pool = Problem([[1, 4], [3, 1]], CAPACITIES, weights=WEIGHTS)
    assert (pool.resources, pool.job_classes) == (("ram", "cpu"), ("B", "A"))
    with pytest.raises(ModelError, match="weights and limits list the job_classes in different orders"):
        Problem([[1, 4], [3, 1]], [9, 18], weights=WEIGHTS, limits=LIMITS.iloc[::-1])
    named = Problem([[1, 4], [3, 1]], [9, 18], weights=WEIGHTS, limits=LIMITS[::-1], job_classes=["A", "B"])
    assert (named.weights.tolist(), named.limits.tolist()) == ([1, 2], [5, 7])


def test_a_default_index_is_no_name_and_a_shuffled_one_is_an_order() -> None:
    frame = DEMANDS.reset_index(drop=True)
    pool = Problem(
        frame.to_numpy(), pd.Series([9, 18]).sort_values(ascending=False), weights=pd.Series([1, 2])
    )
    assert pool.capacities.tolist() == [9, 18]
    assert pool.job_classes == ("class 1", "class 2")
    assert Problem(frame, CAPACITIES).job_classes == ("class 1", "class 2")
    assert Problem(DEMANDS, CAPACITIES, weights=pd.Series([1, 2])).weights.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Problem(DEMANDS, pd.Series({"cpu": 9, "disk": 8})), "lacks 'ram' and has 'disk' besides"),
        (lambda: Problem(DEMANDS, pd.Series({"cpu": 9, "ram": 8, "x": 1})), "capacities .* has 'x' besides"),
        (lambda: Problem(DEMANDS, CAPACITIES, weights=pd.Series({"A": 1.0})), "weights .* lacks 'B'"),
        (lambda: Problem(DEMANDS.iloc[[0, 0]], CAPACITIES), "demands has the label 'A' more than once"),
        (lambda: Problem(DEMANDS, pd.Series([9, 18], index=["cpu", "cpu"])), "'cpu' more than once"),
        (lambda: Cluster(DEMANDS, SERVERS, eligible=ALLOWED.T), "eligible must be the job_classes 'A', 'B'"),
        (lambda: System(POOL, pd.Series({"A": 1.0, "C": 1.0})), "arrival_rates .* lacks 'B' and has 'C'"),
        (lambda: System(PLAIN.replaced(job_classes=None), RATES), "must be the job_classes 'class 1'"),
        (lambda: allocate(POOL, DRF(), pd.Series({"A": 1, "C": 2})), "labels of counts must be .* lacks 'B'"),
        (lambda: DRF(resource_weights=DEMANDS), "resource_weights has labels for its job_classes"),
        (lambda: TDRF(RATES), "join_times has labels for its job_classes"),
        (lambda: POOL.replaced(capacities=pd.Series({"cpu": 1, "gpu": 2})), "lacks 'ram' and has 'gpu'"),
    ],
)
def test_what_does_not_match_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        build()


def test_the_remedies_work() -> None:
    assert DRF(resource_weights=DEMANDS.to_numpy())(POOL, [1, 1]).shape == (2,)
    assert Problem(DEMANDS, pd.Series({"cpu": 9, "disk": 18}).to_numpy()).capacities.tolist() == [9, 18]
    unnamed = PLAIN.replaced(job_classes=["A", "B"])
    assert System(unnamed, RATES).arrival_rates.tolist() == [1.0, 0.5]


def test_exact_entries_and_pickles_survive() -> None:
    table = pd.DataFrame([[Fraction(1, 3), 1]], index=["A"], columns=["cpu", "ram"])
    pool = Problem(table, pd.Series({"ram": 2, "cpu": Fraction(1, 7)}))
    assert pool.as_fractions() == ([[Fraction(1, 3), 1]], [Fraction(1, 7), 2])
    again = pickle.loads(pickle.dumps(pool))
    assert (again.resources, again.as_fractions()) == (("cpu", "ram"), pool.as_fractions())
    assert pool.replaced(capacities=pd.Series({"ram": 5, "cpu": 4})).capacities.tolist() == [4, 5]
    grown = pd.DataFrame(1, index=["A", "B", "C"], columns=["cpu", "ram"])
    assert pool.replaced(demands=grown, weights=None, limits=None).job_classes == ("A", "B", "C")


def test_dims_of_a_dataarray_may_come_in_any_order() -> None:
    dims = ("job_class", "resource")
    array = xr.DataArray(
        [[1, 4], [3, 1]], dims=dims, coords={"job_class": ["A", "B"], "resource": ["x", "y"]}
    )
    pool = Problem(array.T, xr.DataArray([18, 9], dims="resource", coords={"resource": ["y", "x"]}))
    assert (pool.demands.tolist(), pool.capacities.tolist()) == ([[1, 4], [3, 1]], [9, 18])
    assert (pool.job_classes, pool.resources) == (("A", "B"), ("x", "y"))
    bare = Problem(xr.DataArray([[1, 4], [3, 1]]), [9, 18])
    assert bare.job_classes == ("class 1", "class 2")


COUNTS = pd.Series({"B": 3, "A": 1})
STATES = pd.DataFrame({"B": [3, 1], "A": [1, 2]}, index=["monday", "tuesday"])


LABELLED = SimpleNamespace(
    pool=POOL,
    system=SYSTEM,
    demands=DEMANDS,
    capacities=CAPACITIES,
    held=DEMANDS.iloc[::-1, ::-1],
    counts=COUNTS,
    states=STATES,
    mix=pd.Series({"B": 1.0, "A": 2.0}),
    shape=pd.Series({"B": 5, "A": 9}),
    costs=pd.Series({"ram": 1, "cpu": 3}),
    servers=SERVERS,
    prices=pd.Series({"s2": 4, "s1": 3}),
)
ORDERED = SimpleNamespace(
    pool=PLAIN,
    system=System(PLAIN, [1.0, 0.5]),
    demands=DEMANDS.to_numpy(),
    capacities=[9, 18],
    held=DEMANDS.to_numpy(),
    counts=[1, 3],
    states=[[1, 3], [2, 1]],
    mix=np.array([2.0, 1.0]),
    shape=[9, 5],
    costs=[3, 1],
    servers=[[9, 12], [12, 6]],
    prices=[3, 4],
)

PLACES: dict[str, Callable[[Any], Any]] = {
    "allocate": lambda s: allocate(s.pool, ProportionalFair(), s.counts).tasks,
    "allocate on servers": lambda s: allocate(CLUSTER, TSF(), s.counts).placement,
    "policy": lambda s: DRF()(s.pool, s.states),
    "policy on servers": lambda s: PSDSF()(CLUSTER, s.states),
    "mean sizes": lambda s: System(s.pool, s.mix, s.mix).loads,
    "with_load": lambda s: System.with_load(s.pool, s.mix, 0.5, s.mix).arrival_rates,
    "mean durations": lambda s: s.system.mean_durations(s.mix),
    "drift": lambda s: drift(s.system, DRF(), s.counts),
    "trajectory": lambda s: trajectory(s.system, DRF(), s.counts).counts,
    "simulate": lambda s: (
        simulate(s.system, DRF(), events=300, replications=2, rng=1, start=s.counts).mean_jobs
    ),
    "shape": lambda s: stationary(s.system, DRF(), shape=s.shape).mean_jobs,
    "table": lambda s: tabulate(s.pool, DRF(), s.shape).shape,
    "transient": lambda s: transient(s.system, DRF(), [1.0], shape=[9, 9], start=s.counts).mean_jobs,
    "circulate": lambda s: circulate(s.pool, s.held).tasks,
    "region": lambda s: stability_region(s.pool).max_scale(s.mix),
    "cluster region": lambda s: stability_region(CLUSTER).boundary(s.mix),
    "service": lambda s: service_boundary(s.pool, "balanced", s.mix / 9, s.mix, precision=0.01).loads,
    "policy boundary": lambda s: policy_stability_boundary(s.pool, ProportionalFair(), s.mix).loads,
    "provision": lambda s: (
        provision(s.demands, s.mix, s.costs, maximum_duration=s.mix, mean_sizes=s.mix).capacities
    ),
    "server types": lambda s: (
        provision(s.demands, [2, 1], s.prices, servers=s.servers, maximum_duration=2).capacities
    ),
    "certificate": lambda s: bottleneck_certificate(s.pool, s.counts, s.mix).residual,
    "holdings": lambda s: fill_tasks(s.pool, holdings=s.held).tasks,
    "join times": lambda s: integer_tdrf(s.pool, s.counts).tasks,
    "exchange": lambda s: exchange(s.demands, s.held).holdings,
    "timeline": lambda s: (
        timeline(s.demands, s.held, s.counts, capacities=s.capacities).intervals[-1].filling.tasks
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_argument_per_class_or_resource_follows_its_labels(place: str) -> None:
    labelled, ordered = (np.asarray(PLACES[place](side)) for side in (LABELLED, ORDERED))
    if labelled.dtype == object:
        np.testing.assert_array_equal(labelled, ordered)
    else:  # but for the last bits, in which sums depend on where arrays begin in memory
        np.testing.assert_allclose(labelled, ordered, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("label", [None, float("nan"), pd.NA, pd.NaT])
def test_a_label_that_is_missing_is_refused_by_its_place(label: Any) -> None:
    with pytest.raises(ModelError, match="demands has no label at 1 of its resources"):
        Problem(pd.DataFrame([[1, 2]], index=["A"], columns=pd.Index(["a", label], dtype=object)), [3, 4])


def test_a_dict_is_refused_with_the_type_that_is_read_by_labels() -> None:
    pool = Problem([[1, 2]], [3, 4], resources=["cpu", "ram"], job_classes=["A"])
    with pytest.raises(ModelError, match=r"capacities must be an array .* dict; pass pd.Series\(...\)"):
        Problem([[1, 2]], {"cpu": 3, "ram": 4})  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"counts must be an array .* dict; pass pd.Series\(...\)"):
        allocate(pool, DRF(), {"A": 1})  # type: ignore[arg-type]
