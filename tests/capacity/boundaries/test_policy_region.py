"""Stability regions of policies against closed forms, and the tests that confirm them."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from capacity.boundaries.growth_tests import SIDES, chain_test, simulation_test
from capacity.boundaries.policy import policy_stability_boundary, policy_stability_region
from fairness import (
    DRF,
    PSDSF,
    AssetFair,
    BottleneckMax,
    Cluster,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
)
from fairness.policies.servers.per_server import PerServerDRF
from queueing import DRFScheduler, FIFOScheduler, FixedTasks, Tasks
from queueing.chain.boxes import CountBoxes
from queueing.chain.solvers.choose_solver import check_solver
from queueing.model.system import System
from queueing.states.table import tabulate
from tests.own_policies import first_round, handed, owned, priority, short_first

mpl.use("Agg")

CROSSED = Problem([[1, 0.1], [0.1, 1]], [1, 1])
LINEAR = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
SQUARE = Problem([[1, 0], [0, 1]], [1, 1])
ONE = Problem([[1], [1]], [1])


def brackets(region, exact):
    """Every bracket holds the exact part of the load, and is narrow."""
    for point in region.points:
        # Both ends are computed from verdicts, so no tolerance but rounding.
        assert point.inner - 1e-12 <= exact(point.direction) <= point.outer + 1e-12
        assert point.outer - point.inner <= region.precision


@pytest.mark.long
def test_an_equal_split_of_one_resource_is_the_box_below_one_half():
    region = policy_stability_region(ONE, owned, points=9, confirm="chain")
    brackets(region, lambda d: 0.5 / d.max())
    # The corner (1/2, 1/2) of the box lies on the middle ray.
    assert region.lost_at_least <= 0.5 <= region.lost_share
    assert region.lost_share == pytest.approx(0.5, abs=2e-4)
    tested = [p for p in region.points if p.tests]
    assert len(tested) == 3
    assert all(p.confirmed for p in tested)


def test_an_equal_split_of_two_resources():
    problem = Problem([[1, 0.5], [0.25, 1]], [2, 1])
    # Alone: 2 and 1 tasks; halves: 1 and 1/2.
    half = np.array([1.0, 0.5])
    brackets(policy_stability_region(problem, owned, points=10), lambda d: 1 / (d / half).max())


@pytest.mark.parametrize("policy", [handed, priority])
@pytest.mark.long
def test_all_or_nothing_reaches_the_simplex_of_the_single_loads(policy):
    # Halves that are handed over: coupled processors, stable if and only if the sum is below 1; the same for
    # priority. On CROSSED a class alone runs 1 task, and 1/2 + 1/2 together.
    region = policy_stability_region(CROSSED, policy, points=12, confirm="chain", confirm_points=1)
    brackets(region, lambda d: 1 / d.sum())
    # 1/2 of the optimal area 10/11 = 2 (10/11) (1/2).
    assert region.lost_share == pytest.approx(1 - 0.5 / (10 / 11), abs=3e-4)
    assert all(p.confirmed for p in region.points if p.tests)


def test_priority_on_one_resource_loses_nothing():
    region = policy_stability_region(ONE, priority, points=8)
    assert region.lost_at_least == 0
    assert region.lost_share <= 2e-4


POLICIES = [DRF(), AssetFair(), ProportionalFair(), BottleneckMax(), first_round]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_lost_where_proportions_adapt(policy):
    # Also by a policy that stops at the first full resource: max r_i x_i/rho_i decreases
    # (queueing.fluid.lyapunov).
    rng = np.random.default_rng(2)
    for problem in (CROSSED, Problem(rng.uniform(0.1, 1, (2, 3)), [1, 1, 1], weights=[1, 3])):
        region = policy_stability_region(problem, policy, points=10, precision=1e-4)
        assert region.lost_at_least == 0
        # (1 - 1e-4)^2.
        assert region.lost_share <= 2.1e-4


def test_the_first_round_confirmed_by_simulation():
    region = policy_stability_region(CROSSED, first_round, points=3, confirm="simulation", confirm_points=1)
    assert [p.confirmed for p in region.points if p.tests] == [True]


@pytest.mark.long
def test_three_classes_and_one_ray_with_the_closed_form_of_short_flows_first():
    point = policy_stability_boundary(LINEAR, short_first, [1, 1, 1], precision=1e-3, starts=0)
    # rho = (1 - rho)^2, in units of the largest load 1/2.
    exact = (3 - np.sqrt(5)) / 2 / 0.5
    assert point.inner <= exact <= point.outer
    region = policy_stability_region(LINEAR, short_first, points=10, precision=1e-2, starts=0)

    def on_ray(d):
        # d_0 u = (1 - d_1 u)(1 - d_2 u), the smaller root; at most 1.
        roots = np.roots([d[1] * d[2], -d.sum(), 1.0])
        real = roots[np.isreal(roots)].real
        return min(1.0, real[real > 0].min()) if len(real) and (real > 0).any() else 1.0

    brackets(region, on_ray)
    assert 0.1 < region.lost_at_least < region.lost_share < 0.3
    assert len(policy_stability_region(LINEAR, DRF(), points=12).faces) >= 9


def test_drf_on_every_server_by_itself():
    cluster = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]])
    # Both present: 6 and 6 tasks (5 + 1); alone: 12. So the loads must sum to less than 12, as for coupled
    # processors; what fits has the corners (12, 0), (10, 10), (0, 12): on this ray 120/11 and 60/11.
    point = policy_stability_boundary(cluster, PerServerDRF(), [2, 1], precision=3e-2)
    assert point.inner <= 8 / (120 / 11) <= point.outer


def test_mean_sizes_do_not_matter_for_priority_in_fluid():
    one, other = (
        policy_stability_boundary(CROSSED, priority, [1, 2], mean_sizes=s) for s in (1.0, [3.0, 0.2])
    )
    assert one.inner == pytest.approx(other.inner, abs=1e-4)


@pytest.mark.long
def test_schedulers_of_whole_tasks():
    # One resource of 3 units; tasks hold 2 or 1. Head of line: with many jobs of both classes the sequence of
    # starts is random, and units idle behind a task of 2.
    pool, options = Problem([[2], [1]], [3]), {"precision": 0.1, "events": 3_000, "replications": 8}
    point = policy_stability_boundary(pool, FIFOScheduler(), [1, 1], **options)
    again = policy_stability_boundary(pool, FIFOScheduler(), [1, 1], **options)
    assert 0 < point.inner < point.outer < 1
    assert (point.inner, point.outer) == (again.inner, again.outer)
    # Tasks of 1 unit on 3 units: every unit works, so nothing is lost beyond the bracket.
    units = Problem([[1], [1]], [3])
    best = policy_stability_boundary(units, DRFScheduler(), [1, 1], **options)
    assert best.outer == 1.0
    assert best.inner >= 0.5


@pytest.mark.parametrize("precision", [0.1, pytest.param(0.05, marks=pytest.mark.long)])
def test_jobs_of_one_task_in_order_of_arrival(precision):
    """Two servers, jobs that need one or both, one task each: 8/7 of 4/3 jobs a unit of time in saturation.

    Saturated states: two jobs of one server, a job of both, a job of one server with one of both behind it;
    weights 1/4, 1, 1/2, so the throughput is (2/4 + 1 + 1/2)/(7/4).
    """
    pool = Problem([[1], [2]], [2])
    point = policy_stability_boundary(
        pool, FIFOScheduler(), [1, 1], tasks=Tasks(per_job=1), precision=precision
    )
    assert point.inner < 6 / 7 < point.outer
    assert point.outer - point.inner <= precision
    assert point.tasks == Tasks(per_job=1)
    assert "tasks of a job: GeometricTasks(mean=1.0)" in point.evidence


@pytest.mark.long
def test_how_jobs_are_cut_is_said():
    pool, options = Problem([[2], [1]], [3]), {"precision": 0.1, "events": 2000, "replications": 8}
    point = policy_stability_boundary(pool, FIFOScheduler(), [1, 1], **options)
    # As it was before it could be told.
    assert point.tasks == Tasks(per_job=10)
    assert "tasks of a job: GeometricTasks(mean=10.0)" in point.evidence + point.outer_evidence
    single = Tasks(per_job=FixedTasks(1), times="deterministic")
    region = policy_stability_region(Problem([[1]], [2]), FIFOScheduler(), points=1, tasks=single, **options)
    assert "tasks of a job: FixedTasks(number=1.0), deterministic times" in region.summary()
    assert policy_stability_boundary(pool, DRF(), [1, 1]).tasks is None


def halved(problem, counts):
    """Half of what DRF gives."""
    return DRF()(problem, counts) / 2


@pytest.mark.parametrize(
    ("policy", "load", "says"),
    [(DRF(), 0.6, "settles"), (DRF(), 0.9, "settles"), (halved, 0.55, "grows"), (halved, 0.6, "grows")],
)
def test_growth_tests_on_the_queue_with_one_server(policy, load, says):
    system = System(Problem([[1]], [1]), [load])
    assert chain_test(system, policy).says == simulation_test(system, policy).says == says


@pytest.mark.parametrize(
    ("side", "load", "says"),
    [
        (64, 0.9935, "settles"),
        (64, 0.995, "open"),
        (64, 1.005, "open"),
        (64, 1.0065, "grows"),
        (12, 0.965, "settles"),
        (12, 0.975, "open"),
        (12, 1.03, "open"),
        (12, 1.04, "grows"),
    ],
)
def test_loads_of_the_boundary_at_which_the_test_of_one_queue_is_open(side, load, says, monkeypatch):
    # The loads that the docstring of the module names.
    monkeypatch.setitem(SIDES, 1, side)
    assert chain_test(System(Problem([[1]], [1]), [load / 2]), halved).says == says


def test_growth_tests_at_the_critical_load():
    one = Problem([[1]], [1])
    assert chain_test(System(one, [0.5]), halved).says == "open"
    assert simulation_test(System(one, [1.0]), DRF()).method == "load"


@pytest.mark.parametrize(("problem", "beyond"), [(LINEAR, 0.53), (CROSSED, 0.51)])
@pytest.mark.long
def test_about_as_many_jobs_as_a_box_holds_and_yet_stable(problem, beyond):
    for policy, load, says in ((DRF(), 0.95, "settles"), (halved, beyond, "grows")):
        system = System.with_load(problem, np.ones(problem.n_classes), load)
        assert chain_test(system, policy).says == says


@pytest.mark.long
def test_psdsf_loses_load_on_two_servers():
    # Not Pareto-efficient, and the loss stays: the fluid limit grows from 0.825 of the largest load on.
    cluster, policy = Cluster([[1, 5, 3], [3, 1, 1]], [[8, 6, 4], [8, 9, 8]]), PSDSF()
    point = policy_stability_boundary(cluster, policy, [3, 7], precision=2e-2)
    assert point.inner <= 0.825 <= point.outer
    table = tabulate(cluster, policy, [40, 40])
    means = []
    for u in (0.75, 0.9):
        # Not by stationary, which refuses what the fluid limit calls unstable: this is another witness of it.
        boxes = CountBoxes(System(cluster, u * point.direction), policy, check_solver(None), table)
        means.append([boxes.law((k, k)).mean_jobs.sum() for k in (20, 40)])
    # At 0.75 the jobs settle near 13.8 (side 128), at 0.9 they fill the box.
    assert means[0][1] < 1.4 * means[0][0] < 15
    assert means[1][1] > 1.8 * means[1][0]


def test_reports():
    region = policy_stability_region(CROSSED, priority, points=6, confirm="chain", confirm_points=1)
    frame = region.to_dataframe()
    assert len(frame) == len(region.points) == 6
    assert frame["confirmed"].notna().sum() == 1
    assert "are lost" in repr(region)
    assert "numerical evidence, no proof, inside 6 of the points" in repr(region)
    cube = policy_stability_region(LINEAR, DRF(), points=10)
    assert "evidence" not in repr(cube)
    assert cube.plot().get_zlabel() == "load of class 3 (tasks)"
    assert region.boundary([5, 5]).inner == pytest.approx(0.55, abs=1e-4)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (
            r"at most 3 classes, but there are 4.*policy_stability_boundary",
            {"problem": Problem([[1]] * 4, [1])},
        ),
        (r"limit of 1 tasks per job.*remove them", {"problem": Problem([[1], [1]], [1], limits=[1, np.inf])}),
        (r"depends on proportions only", {"policy": lambda problem, counts: np.minimum(counts, 0.25)}),
        (r"confirm must be None, 'chain' or 'simulation'", {"confirm": "fluid"}),
        (r"judged by simulation already", {"policy": FIFOScheduler(), "confirm": "chain"}),
        (
            r"tasks_per_job is no option of a scheduler; known are tasks",
            {"policy": FIFOScheduler(), "tasks_per_job": 1},
        ),
        (r"tasks is no option of a policy; known are starts", {"tasks": Tasks()}),
        (r"tasks must be Tasks such as Tasks\(per_job=1\); got 1", {"policy": FIFOScheduler(), "tasks": 1}),
        (r"precision must be", {"precision": 0}),
        (r"gap must be", {"gap": 1}),
        (r"policy must be a policy or a scheduler", {"policy": "drf"}),
        (r"capacity 0, so the region has no boundary", {"problem": Problem([[1, 0], [1, 1]], [1, 0])}),
    ],
)
def test_errors(message, options):
    with pytest.raises(ModelError, match=message):
        policy_stability_region(**{"problem": ONE, "policy": DRF(), **options})


def test_a_verdict_that_stays_open_names_the_ray():
    with pytest.raises(NotConvergedError, match=r"on the ray \(0.5, 0.5, 0.5\).*undecided"):
        policy_stability_boundary(LINEAR, short_first, [1, 1, 1], max_evaluations=10)
