"""Regions of guaranteed service against closed forms, root finding by scipy and the definition."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from capacity import stability_region
from capacity.boundaries.rays import crossing, mesh, simplex_grid, split, volume
from capacity.boundaries.service import Simulated, service_boundary, service_region
from capacity.boundaries.service_rates import RateModel, Rates
from capacity.boundaries.service_rays import ServiceRays
from capacity.boundaries.service_simulation import SimulatedRates
from fairness import DRF, TSF, Cluster, ModelError, NotConvergedError, Problem, ProportionalFair
from fairness.testing import KINDS, random_problem
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.stationary import stationary
from queueing.model.laws import Deterministic, Hyperexponential
from queueing.model.system import System

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
SERVERS = Cluster([[1, 0.1], [0.1, 1]], [[1, 2], [2, 1]])


@pytest.mark.parametrize(
    "method",
    ["bound", "balanced", *(pytest.param(p, marks=pytest.mark.long) for p in (DRF(), ProportionalFair()))],
)
def test_one_resource_is_multiclass_processor_sharing(method):
    # A job of class i runs C (1 - u)/a_i tasks on average, so the largest g_i a_i sets u.
    a, capacity, minimum = np.array([2.0, 1.0]), 8.0, np.array([0.9, 2.0])
    pool = Problem(a[:, None], [capacity])
    for direction, expected, binding in (
        ([1, 1], 1 - 2.0 / 8, 1),
        ([1, 0], 1 - 1.8 / 8, 0),
        ([0, 3], 1 - 2.0 / 8, 1),
        ([1e-3, 1], 1 - 2.0 / 8, 1),
    ):
        point = service_boundary(pool, method, minimum, direction, mean_sizes=[1, 3])
        assert point.inner <= expected + 1e-12 <= point.outer + 2e-12
        assert point.outer - point.inner <= 1e-6
        assert point.binding == binding
        assert point.monotone
        live = np.array(direction) > 0
        # The lower bounds at the inner end lag by at most the precision, times the slope C/a.
        assert point.service_rates[live] == pytest.approx((capacity * (1 - expected) / a)[live], abs=8e-6)
        assert np.isnan(point.service_rates[~live]).all()


def test_limits_give_erlang_c():
    # M/M/4 with one task per job: below its limit at every load, and by Erlang's formula.
    def rate(load):
        terms = [load**k / math.factorial(k) for k in range(4)]
        waiting = load**4 / math.factorial(4) / (1 - load / 4)
        queue = waiting / (sum(terms) + waiting) * load / (4 - load)
        return load / (load + queue)

    pool = Problem([[1]], [4], limits=[1])
    region = service_region(pool, "balanced", 0.9, points=1)
    expected = brentq(lambda load: rate(load) - 0.9, 0.1, 3.99, xtol=1e-13)
    assert region.loads[0, 0] <= expected <= 4 * region.points[0].outer
    assert region.volume == pytest.approx(expected, abs=4e-6)  # precision times capacity
    with pytest.raises(ModelError, match=r"limits\[0\] \('class 1'\) is finite; take method='balanced'"):
        service_region(pool, "bound", 0.9)
    with pytest.raises(ModelError, match="runs 1 tasks"):
        service_region(pool, "balanced", 1.0)


@pytest.mark.parametrize("method", ["bound", "balanced"])
def test_random_rays_by_the_definition(method):
    rng = np.random.default_rng(3)
    for k in range(15):
        n = int(rng.integers(2, 4))
        pool = random_problem(rng, n, int(rng.integers(1, 4)), kind=KINDS[k % 3])
        # At most 0.9 of the capacity, so that the boxes of three classes stay small.
        minimum = rng.uniform(0.15, 0.6, n) / pool.task_shares.max(axis=1)
        point = service_boundary(
            pool, method, minimum, rng.uniform(0.1, 1, n), mean_sizes=rng.uniform(1, 5, n)
        )

        def margins(u, pool=pool, direction=point.direction, minimum=minimum):
            system = System(pool, u * direction)
            law = duration_bound(system) if method == "bound" else balanced_fairness(system, tail=1e-10)
            return law.service_rates / minimum - 1

        def margin(u, margins=margins):
            return margins(u).min()

        u = brentq(margin, 1e-6, 0.95, xtol=1e-10)
        assert point.inner - 1e-8 <= u <= point.outer + 1e-8
        assert margin(point.inner) >= -1e-9  # tail 1e-10 times the box
        assert margin(point.outer) < 1e-9
        assert point.binding == np.argmin(margins(point.outer))
        assert point.monotone


def test_of_classes_that_reach_their_minimum_together_the_first_is_named():
    for scale in (0.7, 1.1, 11.0, 13.0):
        for n in (2, 3, 4):
            pool = Problem(1.0 + 9.0 * np.eye(n), scale * np.ones(n))
            assert service_boundary(pool, "bound", scale / 55, np.ones(n)).binding == 0


@pytest.mark.long
def test_bound_inside_balanced_inside_stability():
    rng = np.random.default_rng(4)
    for _ in range(6):
        pool = random_problem(rng, 2, 3)
        minimum = 0.2 / pool.task_shares.max(axis=1)
        inner, exact = (service_region(pool, how, minimum, points=12) for how in ("bound", "balanced"))
        for point in inner.points:
            assert point.inner <= exact.boundary(point.direction).outer
            assert 0 < point.inner < 1
        assert stability_region(pool).contains(exact.loads).all()
        assert 0 < inner.share <= exact.share + 1e-6 < 1  # precision; polygons by other points
        # What the bound lets in is inside, by computing.
        assert exact.contains(0.999 * inner.loads).all()


def test_stricter_minimum_is_a_smaller_region():
    shares = [service_region(POOL, "balanced", g, points=15).share for g in (0.05, 0.2, 0.5, 0.9)]
    assert shares == sorted(shares, reverse=True)


def test_symmetric_pool_has_a_symmetric_region():
    region = service_region(POOL, "balanced", 0.2, points=21)
    mirrored = np.array([region.boundary(d[::-1]).inner for d in region.directions])
    assert mirrored == pytest.approx(region.relative_loads, abs=1e-6)  # precision
    corner = region.boundary([1, 1])
    assert region.volume <= stability_region(POOL).volume * 0.8**2
    # Alone on its axis a class is M/M/1: 1 - 0.2. On the diagonal the bound of the talk is below.
    assert region.relative_loads[[0, -1]] == pytest.approx(0.8, abs=1e-6)
    assert corner.inner < 0.8


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("method", ["bound", "balanced"])
def test_volume_of_equal_classes_on_one_resource(n, method):
    # The region is the simplex of the loads up to 1 - g.
    region = service_region(Problem(np.ones((n, 1)), [1]), method, 0.4, points=6)
    assert region.volume == pytest.approx(0.6**n / math.factorial(n), rel=4e-6)
    assert region.share == pytest.approx(0.6**n, rel=4e-6)
    assert len(region.points) == (1 if n == 1 else 6)
    assert np.array(region.directions).sum(axis=1) == pytest.approx(1)


def test_the_boundary_jumps_at_an_axis_where_a_class_has_no_arrivals():
    pool = Problem([[1], [2]], [1])
    region = service_region(pool, "bound", 0.25, points=12)
    assert region.relative_loads[0] == pytest.approx(0.75, abs=1e-6)  # class 1 alone
    assert region.relative_loads[1:] == pytest.approx(0.5, abs=1e-6)  # class 2 sets the boundary
    # Rays are not spent on the jump for ever.
    assert np.diff(np.sort(region.directions[:, 1])).min() > 0.25 / 12 * 0.5 * 0.9


def test_rays_gather_where_the_boundary_bends():
    region = service_region(POOL, "bound", [0.2, 0.2], points=30)
    spacing = np.diff(region.directions[:, 1] / region.directions.sum(axis=1))
    middle = np.abs(region.directions[:-1, 1] / region.directions[:-1].sum(axis=1) - 0.5) < 0.1
    assert spacing[middle].mean() < 0.6 * spacing[~middle].mean()
    dense = service_region(POOL, "bound", [0.2, 0.2], points=150)
    even = np.column_stack([np.linspace(1, 0, 30), np.linspace(0, 1, 30)])
    plain = np.array([region.boundary(d).loads for d in even])
    missed = dense.volume - np.array([region.volume, volume(plain, mesh(even))])
    assert 0 < missed[0] < 0.6 * missed[1]


@pytest.mark.long
def test_the_chain_of_proportional_fairness_is_close_to_balanced_fairness():
    chain = service_region(POOL, ProportionalFair(), 0.25, points=5)
    exact = service_region(POOL, "balanced", 0.25, points=5)
    for point in chain.points:
        assert point.inner == pytest.approx(exact.boundary(point.direction).inner, abs=0.015)
        # By the definition, on a box that leaves far less outside.
        for u, kept in ((point.inner, True), (point.outer, False)):
            law = stationary(System(POOL, u * point.direction), ProportionalFair(), tail=1e-12)
            live = point.direction > 0
            assert (law.service_rates[live] >= 0.25).all() == kept
    assert max(p.residual for p in chain.points) < 1e-12
    assert chain.contains([0.6, 0.6])
    assert not chain.contains([0.72, 0.72])


@pytest.mark.parametrize("method", ["balanced", ProportionalFair()])
def test_a_rare_class(method):
    # Its rate is that of an occasional job, 1 - 0.1 u here or more; the other is M/M/1 at its minimum.
    point = service_boundary(POOL, method, 0.2, [1e-12, 1])
    assert point.inner <= 0.8 + 1e-9
    assert point.outer >= 0.8 - 1e-9
    assert point.binding == 1


def test_sizes_matter_to_drf_only():
    args = (POOL, "balanced", 0.3, [1, 1])
    assert service_boundary(*args, mean_sizes=[1, 9]).inner == pytest.approx(
        service_boundary(*args).inner, abs=1e-6
    )
    args = (POOL, DRF(), 0.3, [1, 1])
    gap = service_boundary(*args, mean_sizes=[1, 9], precision=1e-4).inner - service_boundary(*args).inner
    assert abs(gap) > 1e-3


def half(problem, counts):
    return DRF()(problem, counts) / 2


def test_a_policy_that_wastes_half_of_the_pool():
    # The first looks are beyond its stability; the boundary is (1 - 2 g)/2 all the same.
    point = service_boundary(Problem([[1], [1]], [1]), half, 0.1, [1, 2], max_states=4000)
    assert point.inner <= 0.4 <= point.outer
    with pytest.raises(NotConvergedError, match="could not be computed from relative load"):
        service_boundary(Problem([[1], [1]], [1]), half, 0.01, [1, 2], max_states=400)


class Rising(RateModel):
    """Rates that rise from 1 to 1.2 before they fall."""

    name, evidence = "rising", "made up"

    def rates(self, loads, tail):
        u = loads.sum()
        values = np.full(2, 1 + u if u < 0.2 else 1.5 * (1 - u))
        return Rates(values, values, 0.0, 0.0)


def test_a_rising_rate_is_reported():
    pool = Problem([[1], [1]], [1])
    rays = ServiceRays(Rising(pool, 1), np.array([0.3, 0.3]), 1e-6)
    point = rays.point(rays.scaled([1, 1]))
    assert not point.monotone
    assert point.inner <= 0.8 <= point.outer


def test_crossing_takes_the_first_change_of_sign_it_sees():
    def wiggle(u):
        value = math.cos(3 * math.pi * u)  # signs change at 1/6, 1/2, 5/6
        return value, value

    found = crossing(wiggle, 1.0, 0.95, 1e-8)
    assert found.inner <= 1 / 6 <= found.outer
    assert found.outer - found.inner <= 1e-8


@pytest.mark.parametrize("root", [1e-7, 0.01, 0.3, 0.9, 1 - 1e-7])
@pytest.mark.parametrize("power", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("guess", [0.02, 0.5, 0.99])
def test_crossing_whatever_the_shape(root, power, guess):
    def margin(u):
        value = math.copysign(abs(root - u) ** power, root - u)
        return value, value

    found = crossing(margin, root**power, guess, 1e-6)
    assert found.inner <= root <= found.outer
    assert found.outer - found.inner <= 1e-6
    assert found.evaluations < 70


def test_crossing_says_when_the_margin_is_too_inaccurate():
    with pytest.raises(NotConvergedError, match="not computed accurately enough"):
        crossing(lambda u: (0.4 - u, 0.6 - u), 0.5, 0.5, 1e-6)


def test_meshes():
    for n, most, count in ((1, 5, 1), (2, 20, 20), (3, 30, 28), (3, 1, 6)):
        grid = simplex_grid(n, most)
        assert len(grid) == count
        np.testing.assert_allclose(grid.sum(axis=1), 1)
        assert volume(grid, mesh(grid)) == pytest.approx(1 / math.factorial(n))
    # Refined meshes still cover the simplex, and no edge is cut below the least length.
    grid = simplex_grid(3, 10)
    for _ in range(60):
        new = split(grid, grid * (1 + grid[:, :1] ** 3), 0.02)
        assert new.sum() == pytest.approx(1)
        grid = np.vstack([grid, new])
        assert volume(grid, mesh(grid)) == pytest.approx(1 / 6)
    assert len(np.unique(grid.round(12), axis=0)) == 70
    assert split(simplex_grid(2, 9), simplex_grid(2, 9), 0.1) is None


def test_three_classes_inside_and_by_relabelling():
    a = np.array([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.2, 0.3, 1]])
    region = service_region(Problem(a, np.ones(3)), "balanced", 0.4, points=14)
    assert len(region.points) == 14
    inner = service_region(Problem(a, np.ones(3)), "bound", 0.4, points=14)
    assert 0 < inner.share < region.share < 0.6**3
    turn = [2, 0, 1]
    turned = service_region(Problem(a[turn], np.ones(3)), "bound", 0.4, points=14)
    for point in inner.points:
        assert turned.boundary(point.direction[turn]).inner == pytest.approx(point.inner, abs=1e-6)


def test_result_is_readable():
    region = service_region(POOL, "balanced", [0.2, 0.3], points=7)
    text = repr(region)
    assert "A >= 0.2, B >= 0.3" in text
    assert "% of the stability region" in text
    assert "rigorous" in text
    frame = region.to_dataframe()
    assert len(frame) == 7
    assert (frame["service_rate A"].dropna() >= 0.2).all()
    assert (frame["outer"] - frame["inner"] <= 1e-6).all()
    assert set(frame["binding"]) == {"A", "B"}
    with pytest.raises(ValueError, match="read-only"):
        region.loads[0] = 1


FOUR, BLOCKED = Problem(np.eye(4), np.ones(4)), Problem(np.eye(2), [1, 0])
FREE = Problem([[1], [0]], [1], limits=[2, 2])
RATE = "minimum_service_rate"


def test_rays_of_what_has_no_region():
    for pool, direction in ((FOUR, [1, 1, 1, 1]), (BLOCKED, [1, 0])):
        assert service_boundary(pool, "balanced", 0.1, direction).inner == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"rate\[1\] \('B'\) is 1, but a job of this class .* runs 1 tasks", {RATE: [0.5, 1]}),
        *(("rate must be finite and > 0", {RATE: g}) for g in (0, -1, np.nan, np.inf, [1, 0])),
        (r"one per class; got shape \(3,\)", {RATE: [0.1] * 3}),
        ("must be 'bound', 'balanced' or a policy", {"method": "drf"}),
        ("policy must be callable", {"method": DRF}),
        ("points must be a whole number >= 3", {"points": 2}),
        *(("precision must be", {"precision": p}) for p in (0, 1, np.nan)),
        ("max_states must be", {"max_states": 0}),
        ("max_states=100", {"max_states": 100}),
        ("max_states is for chains", {"max_states": 100, "method": Simulated(DRF())}),
        ("mean_sizes", {"mean_sizes": [1, -1]}),
        ("at most 3 classes, but there are 4; take service_boundary", {"problem": FOUR}),
        ("'class 2' demands a resource of capacity 0, so the region has no", {"problem": BLOCKED}),
        ("never runs", {"problem": BLOCKED, "direction": [1, 1]}),
        ("'class 2' has no demands", {"problem": FREE}),
        ("classes without demands only", {"problem": FREE, "direction": [0, 1]}),
        *(
            (
                "region of service needs one pool .* use policy_stability_region",
                {"problem": SERVERS, "method": m},
            )
            for m in ("bound", "balanced", TSF(), Simulated(TSF()))
        ),
        ("load of class 'B' is below 1e-100 of the largest; set it to 0", {"direction": [1, 1e-110]}),
    ],
)
def test_errors(message, options):
    given = {"problem": POOL, "method": "balanced", RATE: 0.1, **options}
    with pytest.raises(ModelError, match=message):
        (service_boundary if "direction" in options else service_region)(**given)


def test_simulated_sizes_do_not_matter_on_one_resource():
    # M/G/1 processor sharing is insensitive: 1 - 0.5.
    method = Simulated(ProportionalFair(), sizes=Deterministic(), events=20_000, rng=2)
    point = service_boundary(Problem([[1]], [1]), method, 0.5, [1], precision=0.1)
    assert point.inner <= 0.5 <= point.outer


def balanced_table(problem, counts, side=80):
    """Balanced fairness, which is insensitive to the sizes; what is beyond a box counts as its last state."""
    system = System.with_load(POOL, [1, 1], 0.5)
    tasks = balanced_fairness(system, shape=(side + 1, side + 1), distribution=True).tasks()
    x, y = np.moveaxis(np.minimum(counts, side).astype(int), -1, 0)
    return tasks[x, y]


@pytest.mark.long
@pytest.mark.parametrize("law", [Deterministic(), Hyperexponential.fit(2.0)])
def test_simulated_balanced_fairness_is_insensitive(law):
    exact = service_boundary(POOL, "balanced", 0.4, [1, 1])
    method = Simulated(balanced_table, sizes=law, events=20_000, confidence=1 - 1e-3, rng=4)
    point = service_boundary(POOL, method, 0.4, [1, 1], precision=0.1)
    assert point.inner <= exact.inner <= point.outer


@pytest.mark.long
def test_a_simulated_region_encloses_the_exact_one():
    # False alarm at most 1e-6 a ray by the confidence, as far as intervals of 20 replications are exact.
    method = Simulated(DRF(), events=20_000, replications=20, confidence=1 - 1e-6, rng=5)
    region, again = (service_region(POOL, method, [0.3, 0.5], points=3, precision=0.1) for _ in range(2))
    assert region.name == "DRF, simulated"
    assert region.monotone
    pd.testing.assert_frame_equal(region.to_dataframe(), again.to_dataframe())
    for point in region.points:
        exact = service_boundary(POOL, DRF(), [0.3, 0.5], point.direction)
        assert point.inner <= exact.inner <= point.outer
        assert point.outer - point.inner <= 0.1 + 1e-12
        assert point.binding == exact.binding


@pytest.mark.long
def test_a_rate_that_rises_with_the_load_is_seen_by_simulation():
    # Class A runs one task alone, and far more once B is there: its rate rises along the ray.
    def helped(problem, counts):
        here = np.asarray(counts) > 0
        first = np.where(here[..., 1], 1.0, 0.3) * here[..., 0]
        return np.stack([first, 0.9 * here[..., 1]], axis=-1)

    pool = Problem(np.eye(2), [1, 1])
    method = Simulated(helped, events=20_000, rng=6)
    assert not service_boundary(pool, method, [0.2, 0.2], [0.05, 1], precision=0.1).monotone


@pytest.mark.long
def test_runs_that_are_too_short_are_not_settled():
    # At load 0.98 the jobs present need thousands of events to change; at 0.2 they do not.
    pool = Problem([[1]], [1])
    rates = SimulatedRates(pool, Simulated(ProportionalFair(), events=60_000, replications=600, rng=1), 1.0)
    for load, settled in ((0.98, False), (0.2, True)):
        estimate = rates.estimate(np.array([load]), 1, 5)
        assert rates.settled(np.array([load]), 1, 5, estimate) is settled


def test_simulation_that_cannot_decide_says_so():
    method = Simulated(ProportionalFair(), events=1000, rng=1)
    with pytest.raises(NotConvergedError, match="raise precision, events or replications") as caught:
        service_boundary(Problem([[1]], [1]), method, 0.2, [1], precision=1e-3)
    assert (caught.value.best.inner, caught.value.best.outer) == (0.0, 1.0)  # no end is significant
    with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over") as caught:
        service_boundary(Problem([[1]], [1]), method, 0.2, [1], precision=1e-3, time_limit=0)
    assert (caught.value.best.inner, caught.value.best.outer) == (0.0, 1.0)
    with pytest.raises(ModelError, match="confidence must be"):
        Simulated(DRF(), confidence=1.0)
