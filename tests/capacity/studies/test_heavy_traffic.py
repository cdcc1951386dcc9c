"""Heavy traffic against known limits: closed forms, and limits that are proved as upper bounds only."""

from __future__ import annotations

import numpy as np
import pytest

from capacity import heavy_traffic
from capacity.studies.extrapolation import extrapolated
from fairness import DRF, ModelError, Problem, ProportionalFair
from queueing.balanced.duration_bound import duration_bound
from queueing.model.system import System

LOADS = [0.6, 0.8, 0.9, 0.95]
EPSILON = np.array([0.4, 0.2, 0.1, 0.05, 0.025])


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_extrapolation_is_exact_on_its_polynomials_and_honest_beyond(power):
    t = EPSILON**power
    found = extrapolated(EPSILON, 2 - t - t**3 / 10, np.zeros(5))
    assert found.power == power
    assert found.value == pytest.approx(2, abs=1e-10)  # weights up to 1e3 times roundings
    found = extrapolated(EPSILON, 3 - np.exp(t), np.zeros(5))
    assert abs(found.value - 2) <= found.error < 0.2
    # An error of one point enters with its weight.
    for k in range(5):
        bumped = 3 - np.exp(t) + 1e-4 * np.eye(5)[k]
        moved = extrapolated(EPSILON, bumped, np.zeros(5)).value
        exact, wide = (extrapolated(EPSILON, 3 - np.exp(t), np.full(5, e)) for e in (0.0, 1e-4))
        assert abs(moved - exact.value) <= wide.error - exact.error + 1e-12


@pytest.mark.parametrize("power", [0.6, 0.8, 0.95])
def test_powers_between_are_covered_by_their_errors(power):
    # Neither polynomial is right: the free power is, and the error must reach it.
    found = extrapolated(EPSILON, 1 - 0.5 * EPSILON**power, np.zeros(5))
    assert found.free_power == pytest.approx(power, abs=1e-9)
    assert abs(found.value - 1) <= found.error


def test_no_limit_is_claimed_where_none_is_seen():
    for values in (
        -np.log(EPSILON),  # grows for ever
        1 / EPSILON,
        1 - EPSILON**3,  # no leading power of these expansions
        EPSILON - 2 * EPSILON**2,  # turns
        1e-3 + EPSILON - EPSILON * np.log(EPSILON),  # an error larger than the value
    ):
        found = extrapolated(EPSILON, values, np.zeros(5))
        assert np.isnan(found.value), values
        assert found.error == np.inf
    # Constant within the errors of the points.
    flat = extrapolated(EPSILON, 1 + 1e-6 * np.array([0, 1, 0, 1, 0]), np.full(5, 1e-6))
    assert abs(flat.value - 1) <= flat.error < 1e-3


def random_pool(seed, index, both):
    rng = np.random.default_rng([seed, index])
    while True:
        a, c = rng.uniform(0.05, 1, (2, 2)), rng.uniform(0.5, 2, 2)
        rho = np.linalg.solve((a / c).T, np.ones(2)) if both else rng.uniform(0.1, 1, 2)
        if (rho > 0).all():
            return Problem(a, c), rho, rng.uniform(0.2, 5, 2)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("policy", "systems"), [("balanced", 12), pytest.param(ProportionalFair(), 1, marks=pytest.mark.long)]
)
def test_errors_cover_the_known_limits_on_matrices_never_seen(policy, systems, both):
    # Seeds that played no part when the rule was made. Errors are estimates: one miss is allowed for twelve
    # systems.
    claimed = missed = 0
    for k in range(systems):
        pool, mix, sizes = random_pool(90210, k, both)
        study = heavy_traffic(pool, mix, [policy], mean_sizes=sizes, tail=1e-5)
        assert len(study.bottlenecks) == 1 + both
        (queue,) = study.queues
        here = np.isfinite(queue.limit)
        claimed += here.sum()
        missed += (np.abs(queue.limit - study.reference) > queue.limit_error)[here].sum()
    assert missed <= systems // 12
    # Balanced fairness comes near its limit at these loads; PF with two full resources rarely.
    assert claimed >= (0 if policy != "balanced" and both else 1.5 * systems)


def test_linear_network_has_a_closed_form():
    # T. Bonald and A. Proutiere: alone on line, E[x_0] + E[x_k] and the short classes are geometric; both
    # links full. Prices independent: class 0 counts twice.
    line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    study = heavy_traffic(line, [0.4, 0.6, 0.6], ["balanced"])
    (queue,) = study.queues
    np.testing.assert_allclose(study.reference, [0.8, 0.6, 0.6])
    assert np.isfinite(queue.limit).all()
    assert (np.abs(queue.limit - study.reference) <= queue.limit_error).all()
    assert (queue.limit_error < 0.02 * queue.limit).all()


@pytest.mark.parametrize(
    "policy", ["balanced", *(pytest.param(p, marks=pytest.mark.long) for p in (ProportionalFair(), DRF()))]
)
def test_one_resource_has_its_closed_form(policy):
    # Multi-class processor sharing: (1 - u) E[x_i] = u rho_i a_i, linear in u.
    pool = Problem([[1.0], [3.0]], [2.0])
    study = heavy_traffic(pool, [2, 1], [policy], loads=[0.6, 0.7, 0.8, 0.9], mean_sizes=[1, 4])
    (queue,) = study.queues
    used = study.direction * [0.5, 1.5]
    np.testing.assert_allclose(queue.values, queue.loads[:, None] * used, atol=1e-5)  # tail 1e-8 times boxes
    np.testing.assert_allclose(queue.limit, used, atol=1e-4)
    np.testing.assert_allclose(study.reference, used)
    assert (np.abs(queue.limit - used) <= queue.limit_error).all()


def test_independent_queues_have_two_bottlenecks():
    study = heavy_traffic(Problem(np.eye(2), [1, 1]), [1, 1], ["balanced"], loads=LOADS)
    assert study.bottlenecks == ("resource 1", "resource 2")
    assert study.independent
    np.testing.assert_allclose(study.queues[0].limit, [1, 1], atol=1e-5)
    twice = heavy_traffic(Problem(np.ones((2, 2)), [1, 1]), [1, 1], ["balanced"], loads=LOADS)
    assert not twice.independent


@pytest.mark.long
def test_three_routes_at_the_loads_that_their_chains_reach():
    line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    study = heavy_traffic(line, [1, 1, 1], [ProportionalFair(), "balanced"], tail=1e-4)
    queue = study["PF"]
    assert queue.loads.tolist() == [0.2, 0.6, 0.8, 0.9]
    assert study["balanced"].loads[-1] > 0.99
    assert study.reference == pytest.approx([1, 0.5, 0.5])
    assert (np.abs(queue.limit - study.reference) <= queue.limit_error).all()
    assert queue.limit[1:] == pytest.approx([0.5, 0.5], rel=1e-2)


def test_certified_loads_hold_the_closed_form():
    """On one resource PF and balanced fairness are processor sharing: (1 - u) E[x_i] = u_i."""
    pool, loads = Problem([[1], [3]], [1]), [0.6, 0.8]
    policies = ["balanced", ProportionalFair()]
    study = heavy_traffic(pool, [1, 1], policies, loads=LOADS, certified=loads, width=1e-3)
    for one in study.bounds:
        exact = np.outer(loads, [0.25, 0.75])
        assert (one.lower <= exact * (1 + 1e-12)).all()
        assert (exact * (1 - 1e-12) <= one.upper).all()
        assert (one.upper - one.lower <= 1e-3 * exact).all()
    table = study.certified()
    assert table.shape == (8, 5)
    assert set(table.policy) == {"balanced", "PF"}
    assert "proved" in [text.get_text() for text in study.plot().get_legend().get_texts()]


@pytest.mark.long
def test_near_load_1_proportional_and_balanced_fairness_differ():
    """At .99 each has the longer queue of one class: by bounds, not by estimates."""
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    policies = ["balanced", ProportionalFair()]
    study = heavy_traffic(pool, [3, 1], policies, loads=LOADS, certified=[0.99], width=1e-4)
    balanced, fair = study.bounds
    assert balanced.upper[0, 0] < fair.lower[0, 0]
    assert fair.upper[0, 1] < balanced.lower[0, 1]


@pytest.mark.long
def test_conjecture_on_the_talks_matrix_and_drf_that_has_no_limit():
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    study = heavy_traffic(pool, [1, 1], ["balanced", ProportionalFair(), DRF()], loads=LOADS, tail=1e-5)
    assert study.agree("balanced", "PF") is True
    assert study.agree("balanced", "DRF") is None
    assert study["DRF"].exponents[0] > 1.5
    np.testing.assert_allclose(study["balanced"].limit, [1, 1], atol=1e-3)
    # Never above the bound, rigorously.
    for u, value in zip(study["balanced"].loads, study["balanced"].values, strict=True):
        bound = duration_bound(System(pool, u * study.direction)).mean_jobs
        assert (value <= (1 - u) * bound + 1e-9).all()
    assert "none seen: E[jobs] grows" in repr(study)
    assert len(study.limits()) == 6
    with pytest.raises(KeyError, match="no policy is named"):
        study["BMF"]


@pytest.mark.parametrize(
    ("message", "policies", "options"),
    [
        ("at least 4 increasing", ["balanced"], {"loads": [0.5, 0.9]}),
        ("callable, or 'balanced'", ["pf"], {}),
        ("sequence of policies", "balanced", {}),
        ("certified must be increasing", ["balanced"], {"certified": [0.9, 0.5]}),
        ("width", ["balanced"], {"certified": [0.9], "width": 0}),
        ("limits never bind", ["balanced"], {"problem": Problem([[1]], [1], limits=[1])}),
    ],
)
def test_errors(message, policies, options):
    with pytest.raises(ModelError, match=message):
        heavy_traffic(**{"problem": Problem([[1]], [1]), "mix": [1], "policies": policies, **options})
