"""Certificates of pools: what their residuals are, by hand."""

import numpy as np
import pytest

from fairness import Problem, ProportionalFair, allocate
from fairness.evidence.pools import (
    bottleneck_certificate,
    feasibility_certificate,
    level_certificate,
    price_certificate,
    rounding,
)

APART = Problem([[1, 0], [0, 1]], [1, 2])
"""Two classes, each with a resource of its own."""
TOGETHER = Problem([[1, 1]], [4, 8])
"""One class, which leaves half of the second resource."""


def test_rounding_grows_with_the_root_of_many_terms():
    assert rounding(4) == 8 * 2.0**-53
    assert rounding(100) == 84 * 2.0**-53


def test_what_is_too_much():
    problem = Problem([[1], [1]], [8], limits=[2, np.inf])
    assert feasibility_certificate(problem, [1, 1], [2, 6]).residual == 0
    assert feasibility_certificate(problem, [1, 1], [3, 1]).residual == 0.5  # of its limit
    assert feasibility_certificate(problem, [1, 1], [2, 8]).residual == 0.25  # of the capacity
    assert feasibility_certificate(problem, [1, 1], [2, -1]).residual == np.inf
    assert feasibility_certificate(problem, [1, 0], [2, 1]).residual == np.inf


def test_the_highest_level_on_a_full_resource():
    # The first class might have 4 tasks more; that it has more than the second does not help there.
    problem = Problem([[1, 0], [1, 1]], [10, 1])
    growth = np.ones(2)
    assert level_certificate(problem, [1, 1], [5, 1], growth).residual == pytest.approx(0.4)
    assert level_certificate(problem, [1, 1], [9, 1], growth).residual == rounding(2)
    # Levels below 1.
    assert level_certificate(APART, [1, 8], [1, 2], growth).residual == rounding(2)
    assert bottleneck_certificate(APART, [1, 8], [1, 2]).residual == rounding(2)
    assert bottleneck_certificate(APART, [0, 0], [0, 0]).residual == 0
    # Who is not there does not count.
    shared = Problem([[1], [1]], [0.5])
    assert level_certificate(shared, [1, 0], [0.5, 0], growth).residual == rounding(2)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_prices_are_weights_over_tasks(alpha):
    # p = (w / phi)^alpha; a task that the price does not explain counts by its part of what it does.
    prices = np.array([1.0, 0.5**alpha])
    room = rounding(4) * max(1.0, 1.0 / alpha)
    verdict = price_certificate(APART, [1, 1], [1, 2], prices, alpha=alpha)
    assert room <= verdict.residual <= 3 * room
    wrong = price_certificate(APART, [1, 1], [1, 2], prices * 1.5**alpha, alpha=alpha)
    assert wrong.residual == pytest.approx(0.5)
    # Nobody of the second class: its resource is free.
    alone = price_certificate(APART, [1, 0], [1, 0], np.array([1.0, 0.0]), alpha=alpha)
    assert alone.residual == room


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_negative_price_is_seen_in_any_unit(unit):
    # Both full, each price explains the tasks, and one is negative: (1/7, 2/7) is not PF, (1/6, 1/4) is.
    pool = Problem([[1, 3], [3, 2]], [unit, unit])
    wrong = price_certificate(pool, [1, 1], np.array([1 / 7, 2 / 7]) * unit, np.array([-0.5, 2.5]) / unit)
    assert wrong.residual == pytest.approx(3 / 7)
    assert not wrong.holds
    right = allocate(pool, ProportionalFair())
    assert right.certificate.holds
    assert right.tasks == pytest.approx(np.array([1 / 6, 1 / 4]) * unit)


def test_jobs_pay_their_weights():
    weighted = Problem([[1, 0], [0, 1]], [1, 2], weights=[1, 3])
    verdict = price_certificate(weighted, [2, 1], [1, 2], np.array([2.0, 1.5]))
    assert verdict.residual <= 3 * rounding(4)


def test_prices_are_not_negative_and_only_of_what_is_full():
    alone = [1, 0], [1, 0]
    # Of capacity 2: all of it is worth minus half of the other.
    assert price_certificate(APART, *alone, np.array([1.0, -0.25])).residual == 0.5 + rounding(4)
    q = np.array([0.0, -0.25])
    verdict = price_certificate(APART, *alone, np.array([1.0, 0.0]), limit_prices=q)
    assert verdict.residual == 1.0 + rounding(4)  # all that it would pay
    # A fifth of what a task costs is for the resource of which half is left.
    assert price_certificate(TOGETHER, [1], [4], np.array([0.2, 0.05])).residual == pytest.approx(0.2)
    assert price_certificate(TOGETHER, [1], [4], np.array([0.25, 0.0])).residual == rounding(3)
    # Of somebody who is there.
    with_another = Problem([[1, 1], [0, 9]], [4, 8])
    verdict = price_certificate(with_another, [1, 0], [4, 0], np.array([0.2, 0.05]))
    assert verdict.residual == pytest.approx(0.2)


def test_prices_of_limits_are_for_classes_at_their_limits():
    limited = Problem([[1]], [8], limits=[4])
    free, limit_price = np.zeros(1), np.array([0.25])
    assert price_certificate(limited, [1], [4], free, limit_prices=limit_price).residual == rounding(2)
    early = price_certificate(limited, [1], [2], free, limit_prices=2 * limit_price)
    assert early.residual == 0.5 + rounding(2)
