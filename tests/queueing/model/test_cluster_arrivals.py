"""Clusters under random arrivals: loads, tables, chains and simulations against pools and closed forms."""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass

import joblib
import numpy as np
import pytest

from fairness import CATALOGUE, CDRFH, CLUSTER_CATALOGUE, DRF, PSDSF, TSF, Cluster, Problem
from fairness.errors import ModelError, UnstableError
from fairness.policies.servers.per_server import PerServerDRF
from fairness.protocol.calling import policy_tasks
from queueing import JobTrace, admission, simulate, stationary, transient
from queueing.chain.boxes import CountBoxes
from queueing.chain.solvers.choose_solver import Automatic
from queueing.model.cluster_load import geometric_ratios
from queueing.model.system import System
from queueing.states import table as module
from queueing.states.growing_table import GrowingTable
from queueing.states.table import tabulate
from tests.processes import PATIENCE
from tests.queueing.chain.chains import SOLVERS
from tests.queueing.simulation.simulated import SURE, off

TWO = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]], job_classes=["A", "B"], servers=["big", "small"])
APART = Cluster([[1, 2], [3, 1]], [[4, 4], [6, 6]], eligible=[[True, False], [False, True]])
TWINS = Cluster([[1, 0.1], [0.1, 1]], [[1, 1], [1, 1]])


def test_loads_of_a_cluster():
    system = System(TWO, [0.8, 2.4], [2, 2])
    # A is 1.6 of 2 at most on the first server, and all tasks together are 6.4 of 10.
    assert system.relative_loads == pytest.approx([0.8], rel=1e-12)
    assert system.load_names == ("servers",)
    assert system.resource_loads.tolist() == pytest.approx([6.4, 3.2])
    assert not system.overloaded.any()
    system.require_stable()
    assert repr(system) == "System(2 classes; relative load: servers 0.8)"
    scaled = System.with_load(TWO, [1, 3], 0.9, [2, 4])
    assert scaled.relative_loads == pytest.approx([0.9], rel=1e-12)
    assert scaled.loads[1] / scaled.loads[0] == pytest.approx(3, rel=1e-14)
    with pytest.raises(UnstableError, match=r"on less than all of the servers \(load 1.03\); reduce"):
        System.with_load(TWO, [1, 3], 1.03).require_stable()
    with pytest.raises(UnstableError, match=r"all of the servers \(load 1.03\)"):
        simulate(System.with_load(TWO, [1, 3], 1.03), PSDSF())
    assert system.limits.tolist() == [np.inf, np.inf]
    assert not system.blocked.any()
    empty = System(TWO, [0, 0])
    assert empty.relative_loads.tolist() == [0]
    with pytest.raises(ModelError, match="puts relative load 0 on the servers"):
        System.with_load(TWO, [0, 0], 0.5)


def test_what_only_one_kind_of_system_has():
    pool, cluster = System(Problem([[1]], [0]), [0.1]), System(TWO, [1, 1])
    assert pool.require_pool("x") is pool.problem
    assert pool.blocked.tolist() == [True]
    assert pool.limits.tolist() == [np.inf]
    assert pool.load_names == ("resource 1",)
    with pytest.raises(
        ModelError, match=r"^x needs one pool of resources \(a Problem\); this system is a Clus"
    ):
        cluster.require_pool("x")
    with pytest.raises(ModelError, match="load_evidence is for a Cluster"):
        _ = pool.load_evidence
    fast = System(TWO.replaced(gamma=[[2, 0], [8, 12]]), [1, 1])
    assert fast.relative_loads[0] < cluster.relative_loads[0] or fast.relative_loads[0] == 0.5
    with pytest.raises(ModelError, match="gamma is given, so a task holds other amounts"):
        _ = fast.resource_loads
    for make in (System, lambda problem, rates: System.with_load(problem, rates, 0.5)):
        with pytest.raises(ModelError, match=r"must be a fairness.Problem or Cluster; got list"):
            make([[1, 2]], [1, 1])


def test_geometric_ratios_are_exact_for_one_resource():
    # M/M/1 processor sharing with two classes at load .5 + .3: ratios u_i/(1 - u + u_i).
    system = System(Cluster([[1], [2]], [[2]]), [1.0, 0.3])
    ratios = geometric_ratios(system.load_evidence, system.problem)
    assert ratios == pytest.approx([0.5 / 0.7, 0.3 / 0.5], rel=1e-9)
    # A class that fills what is free costs nothing, but has a law all the same.
    free = System.with_load(Cluster([[1, 0], [0, 1]], [[1, 1]]), [1, 0.1], 0.5)
    ratios = geometric_ratios(free.load_evidence, free.problem)
    assert ((ratios > 0) & (ratios < 1)).all()


# The same problem


def test_problems_are_compared_by_value():
    pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"])
    for one in (pool, TWO, APART, TWO.replaced(gamma=[[2, 0], [8, 12]])):
        other = pickle.loads(pickle.dumps(one))
        assert other is not one
        assert one.same(other)
    assert not pool.same(Cluster([[1, 4], [3, 1]], [[9, 18]], job_classes=["A", "B"]))
    cluster = Cluster([[1, 2], [1, 1]], [[4, 4], [6, 2]])
    for model, change in (
        (pool, {"demands": [[1, 4], [3, 2]]}),
        (pool, {"capacities": [9, 17]}),
        (pool, {"weights": [1, 2]}),
        (pool, {"limits": [1, 2]}),
        (pool, {"job_classes": ["A", "C"]}),
        (pool, {"resources": ["cpu", "ram"]}),
        (cluster, {"capacities": [[4, 4], [6, 3]]}),
        (cluster, {"weights": [1, 2]}),
        (cluster, {"eligible": [[True, True], [True, False]]}),
        (cluster, {"gamma": cluster.gamma}),  # says nothing new, but some policies refuse it
        (cluster, {"gamma": 2 * cluster.gamma}),
        (cluster, {"servers": ["x", "y"]}),
        (cluster, {"job_classes": ["A", "C"]}),
    ):
        assert not model.same(model.replaced(**change)), change


@pytest.mark.long
def test_a_table_from_another_process_is_known():
    system = System.with_load(TWO, [1, 3], 0.5)
    table = pickle.loads(pickle.dumps(tabulate(TWO, PSDSF(), (8, 8))))
    assert table.problem is not TWO
    assert table.is_of(TWO, PSDSF())
    assert not table.is_of(TWO, PSDSF(division="time"))
    assert not table.is_of(TWO.replaced(weights=[1, 2]), PSDSF())
    options = {"events": 4000, "replications": 2, "rng": 1}
    one, other = (simulate(system, PSDSF(), table=t, **options) for t in (table, None))
    np.testing.assert_array_equal(one.mean_jobs, other.mean_jobs)
    trace = JobTrace(pickle.loads(pickle.dumps(TWO)), [0, 1, 2, 5], ["A", "B", "A", "B"], [1, 2, 1, 1])
    result = simulate(System.from_trace(trace), PSDSF(), replications=2, warmup=0.0)
    assert result.jobs.tolist() == [2, 2]


@dataclass(frozen=True)
class Timed:
    """A policy that tells how often it was called, and that waits meanwhile."""

    calls: list

    def __call__(self, problem, counts):
        if counts.ndim > 1:  # besides, one state alone, which must have the same answer
            self.calls.append(len(counts))
        threading.Event().wait(0.05)
        return DRF()(problem, counts)


@pytest.mark.long
def test_threads_wait_for_one_table():
    system = System(Problem([[1], [2]], [4]), [0.5, 0.5])
    policy = Timed([])
    growing = GrowingTable(system, policy, tabulate(system.problem, policy, (4, 4)))
    policy.calls.clear()
    far = np.array([9, 3])
    threads = [threading.Thread(daemon=True, target=growing.covering, args=(far,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert policy.calls == [16 * 4 - 4 * 4]
    assert growing.table.shape == (16, 4)
    assert growing.covering(far) is growing.table
    # A copy has a lock of its own, and grows.
    copy = pickle.loads(pickle.dumps(GrowingTable(system, DRF())))
    assert copy.covering(np.array([100, 0])).shape[0] > 100


# Tables


@pytest.mark.parametrize("entry", CLUSTER_CATALOGUE, ids=lambda entry: entry.policy.name)
def test_tasks_are_the_placement_summed(entry, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 9)  # five chunks of four states
    cluster = Cluster([[1, 2], [2, 1]], [[4, 4], [3, 6]], weights=[1, 2])
    table = tabulate(cluster, entry.policy, (4, 5))
    for state in np.ndindex(4, 5):
        placement = entry.policy(cluster, np.array(state, float))
        # A sum in another order.
        np.testing.assert_allclose(table.tasks[state], placement.sum(axis=-1), rtol=1e-14)
    assert policy_tasks(cluster, entry.policy, np.ones((2, 3, 2))).shape == (2, 3, 2)


def test_tables_by_several_workers():
    with joblib.parallel_config(backend="threading"):
        for problem, policy in ((TWO, PSDSF()), (Problem([[1, 4], [3, 1]], [9, 18]), DRF())):
            one, known = tabulate(problem, policy, (13, 7)), tabulate(problem, policy, (5, 6))
            other = tabulate(problem, policy, (13, 7), known=known, n_jobs=2)
            np.testing.assert_array_equal(one.tasks, other.tasks)
    with pytest.raises(ModelError, match=r"n_jobs counts workers: a positive integer .*, or -1"):
        tabulate(TWO, PSDSF(), 3, n_jobs=0)


def test_policies_of_the_other_kind():
    counts = np.ones((3, 2))
    for entry in CATALOGUE:
        with pytest.raises(
            ModelError, match=r"made for one pool of resources; the problem is a Cluster: take"
        ):
            policy_tasks(TWO, entry.policy, counts)
    for entry in CLUSTER_CATALOGUE:
        with pytest.raises(ModelError, match=r"places tasks on the servers of a Cluster; .* example DRF\(\)"):
            policy_tasks(Problem([[1], [1]], [1]), entry.policy, counts)
    system = System(TWO, [1, 1])
    for call in (lambda: simulate(system, DRF()), lambda: simulate(system, DRF(), jobs=100)):
        with pytest.raises(ModelError, match="DRF is made for one pool of resources"):
            call()


def test_bad_answers_on_a_cluster():
    def answer(change):
        def policy(cluster, counts):
            placement = PSDSF()(cluster, counts)
            change(placement)
            return placement

        return policy

    counts = np.array([[1.0, 1.0], [0.0, 2.0]])
    cases = (
        (1, 0, 0, 0.5, r"gave 0.5 tasks to class 'A' on 'big' in state \[0. 2.\]"),
        (0, 0, 1, 0.5, r"gave 0.5 tasks to class 'A' on 'small' in state \[1. 1.\]"),
        (0, 1, 1, -1.0, r"gave -1.0 tasks to class 'B' on 'small'"),
        (0, 1, 1, np.nan, r"gave nan tasks to class 'B' on 'small'"),
    )
    for *place, value, message in cases:

        def change(placement, place=tuple(place), value=value):
            placement[place] = value

        with pytest.raises(ModelError, match=message):
            policy_tasks(TWO, answer(change), counts)
    with pytest.raises(
        ModelError, match=r"returned shape \(2, 2\) for counts of shape \(2, 2\) and 2 servers"
    ):
        policy_tasks(TWO, lambda cluster, counts: counts, counts)
    assert policy_tasks(TWO, lambda c, x: PSDSF()(c, x), counts[0]).tolist() == [2, 8]


# Servers apart: independent queues


@pytest.mark.parametrize("policy", [PSDSF(), PSDSF(division="time"), PerServerDRF(), TSF(), CDRFH()])
@pytest.mark.long
def test_separate_servers_are_independent_queues(policy):
    # Alone: 2 tasks of class 1, 2 of class 2; M/M/1 processor sharing at loads .4 and .5.
    system = System(APART, [0.8, 0.5], [1, 2])
    assert system.relative_loads == pytest.approx([0.5])
    powers = [r ** np.arange(18) for r in (0.4, 0.5)]
    product = np.outer(*(p / p.sum() for p in powers))
    for solver in SOLVERS:
        law = stationary(system, policy, shape=18, solver=solver)
        # 1e-12: rounding. The queues are cut at 18 jobs, as in the formula.
        np.testing.assert_allclose(law.distribution, product, atol=1e-12)
    if isinstance(policy, PSDSF | PerServerDRF):  # the others are slow on the box that grows
        whole = stationary(system, policy, tail=1e-13)
        np.testing.assert_allclose(whole.mean_jobs, [0.4 / 0.6, 1.0], rtol=1e-9)
        np.testing.assert_allclose(whole.variances, [0.4 / 0.36, 2.0], rtol=1e-9)
    limited = admission(system, policy, max_jobs=(4, 6))
    # M/M/1/K: refused with probability r^K (1 - r)/(1 - r^(K + 1)).
    lost = [r**k * (1 - r) / (1 - r ** (k + 1)) for r, k in ((0.4, 4), (0.5, 6))]
    np.testing.assert_allclose(limited.blocking, lost, rtol=1e-9)


@pytest.mark.long
def test_transient_of_separate_servers():
    system = System(APART, [0.8, 0.5], [1, 2])
    alone = System(Problem([[1]], [2]), [0.8])
    both = transient(system, PSDSF(), [0.5, 3.0], shape=(12, 12))
    one = transient(alone, DRF(), [0.5, 3.0], shape=12)
    np.testing.assert_allclose(both.mean_jobs[:, 0], one.mean_jobs[:, 0], atol=1e-9)


# Two servers together


def test_simulations_of_twins_agree_with_the_chain():
    system = System.with_load(TWINS, [1, 1], 0.6)
    assert system.loads.sum() == pytest.approx(2 * 0.6 * 2 / 1.1)
    table = tabulate(TWINS, PSDSF(), (48, 48))
    law = stationary(system, PSDSF(), shape=48, table=table)
    assert sum(marginal[-1] for marginal in law.marginals) < 1e-7
    exact = law.mean_jobs
    assert exact[0] == pytest.approx(exact[1], rel=1e-9)
    # Two identical servers do as one with both capacities: all tasks are divisible.
    joined = System(Problem(TWINS.demands, [2, 2]), system.arrival_rates)
    np.testing.assert_allclose(exact, stationary(joined, DRF(), shape=48).mean_jobs, rtol=1e-9)
    walked = simulate(system, PSDSF(), events=100_000, rng=1, table=table)
    assert (off(walked.estimates["mean_jobs"], exact) < 1).all()
    served = simulate(system, PSDSF(), jobs=20_000, rng=2, replications=6, table=table)
    assert (off(served.estimates["mean_jobs"], exact) < 1).all()
    assert (off(served.estimates["mean_durations"], system.mean_durations(exact)) < 1).all()
    np.testing.assert_allclose(served.alone_rates, [2.0, 2.0], rtol=1e-9)


@pytest.mark.parametrize("policy", [PSDSF(), TSF(), pytest.param(CDRFH(), marks=pytest.mark.long)])
def test_policies_at_load_four_fifths(policy):
    system = System.with_load(TWO, [1, 3], 0.8)
    table = tabulate(TWO, policy, (40, 16))
    law = stationary(system, policy, shape=(40, 16), table=table)
    # Stable: the law decays to the end of the box.
    assert max(marginal[-1] for marginal in law.marginals) < 1e-3
    if isinstance(policy, PSDSF):
        result = simulate(system, policy, events=100_000, rng=4, table=table)
        # 0.05: what the box cuts off.
        reach = result.estimates["mean_jobs"].half_width_at(SURE) + 0.05
        assert (np.abs(result.mean_jobs - law.mean_jobs) < reach).all()


def test_ps_dsf_is_stable_in_a_part_of_the_region_only():
    # Each class holds much of what the other needs least; PS-DSF lets both use both servers.
    cluster = Cluster([[1, 5, 3], [3, 1, 1]], [[8, 6, 4], [8, 9, 8]])
    system = System.with_load(cluster, [3, 7], 0.95)
    with pytest.raises(UnstableError, match="PS-DSF rdm is unstable"):
        stationary(system, PSDSF())
    boxes = CountBoxes(system, PSDSF(), Automatic())
    wide, narrow = (boxes.law((size, size)).mean_jobs.sum() for size in (60, 30))
    # The jobs follow the box: most states are full ones.
    assert wide > 1.8 * narrow > 40
    # Levelling global shares is stable wherever some policy is: the class with the most jobs per load gets
    # more than its load, or moving towards a placement that carries all loads would raise the least level.
    states = np.random.default_rng(1).exponential(size=(40, 2))
    tasks = policy_tasks(cluster, CDRFH(), states)
    yardstick = 1 / (cluster.demands / cluster.total_capacities).max(axis=1)
    crowded = (states * yardstick / system.loads).argmax(axis=1)
    assert (tasks[range(40), crowded] > system.loads[crowded]).all()
