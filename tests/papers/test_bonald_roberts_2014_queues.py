"""Bonald & Roberts, "Resource sharing in data centers", Eindhoven 2014: durations and service rates.

The talk plots them for a = [[10, 1], [1, 10]] and for 16 cores and 16 GB shared by tasks (4, 1) and (1, 4).
Balanced traffic has equal loads, unbalanced traffic three times as much of the first class. The numbers below
were computed independently of this code to the digits shown; all tests are to half a unit of the last digit.
"""

from __future__ import annotations

import numpy as np
import pytest

from fairness import DRF, Problem, ProportionalFair
from queueing import System, balanced_fairness, duration_bound, stationary

HALF = 0.51e-4  # half a unit of the fourth decimal, and a little for numbers that end in a 5
POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])
SERVER = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
MIXES = {"balanced": [1, 1], "unbalanced": [3, 1]}

# load of the busiest resource, traffic: E[T_i]/sigma_i of both classes under BF, bound, PF, DRF.
DURATIONS = {
    (0.3, "balanced"): ((1.4384, 1.4384), (1.4714, 1.4714), (1.4286, 1.4286), (1.5007, 1.5007)),
    (0.5, "balanced"): ((2.0397, 2.0397), (2.1000, 2.1000), (2.0000, 2.0000), (2.3321, 2.3321)),
    (0.7, "balanced"): ((3.4719, 3.4719), (3.5667, 3.5667), (3.3364, 3.3364), (4.8763, 4.8763)),
    (0.9, "balanced"): ((10.7588, 10.7588), (10.9000, 10.9000), (10.1536, 10.1536), (29.8808, 29.8808)),
    (0.3, "unbalanced"): ((1.4295, 1.1551), (1.4430, 1.1868), (1.4288, 1.1433), (1.4341, 1.2273)),
    (0.5, "unbalanced"): ((2.0029, 1.3099), (2.0265, 1.3653), (2.0010, 1.2634), (2.0171, 1.6123)),
    (0.7, "unbalanced"): ((3.3398, 1.5670), (3.3749, 1.6489), (3.3372, 1.4157), (3.3718, 2.6673)),
    (0.9, "unbalanced"): ((10.0124, 2.3939), (10.0606, 2.5062), (10.0157, 1.8479), (10.0131, 8.7607)),
}
# load, traffic: mean tasks of an active job of both classes under BF, bound, PF, DRF, on the server.
SERVICE_RATES = {
    (0.5, "balanced"): ((1.9339,) * 2, (1.7778,) * 2, (1.9951,) * 2, (1.7956,) * 2),
    (0.9, "balanced"): ((0.3432,) * 2, (0.3265,) * 2, (0.3759,) * 2, (0.1762,) * 2),
    (0.9, "unbalanced"): ((0.3989, 1.0502), (0.3908, 0.9546), (0.3981, 1.2947), (0.4077, 0.4556)),
}


@pytest.mark.parametrize(("load", "traffic"), DURATIONS)
def test_mean_durations(load, traffic):
    system = System.with_load(POOL, MIXES[traffic], load)
    balanced, bound, proportional, drf = DURATIONS[load, traffic]
    assert balanced_fairness(system).mean_durations == pytest.approx(balanced, abs=HALF)
    assert duration_bound(system).mean_durations == pytest.approx(bound, abs=HALF)
    for policy, expected in ((ProportionalFair(), proportional), (DRF(), drf)):
        law = stationary(system, policy)
        assert law.tail_mass < 1e-9
        assert law.residual < 1e-11
        assert law.mean_durations == pytest.approx(expected, abs=HALF)
        if policy.name == "PF":  # "close to balanced fairness", says the talk
            assert law.mean_durations[0] == pytest.approx(balanced[0], rel=0.06)


@pytest.mark.parametrize(("load", "traffic"), SERVICE_RATES)
def test_mean_service_rates(load, traffic):
    system = System.with_load(SERVER, MIXES[traffic], load)
    balanced, bound, proportional, drf = SERVICE_RATES[load, traffic]
    assert balanced_fairness(system).service_rates == pytest.approx(balanced, abs=HALF)
    assert duration_bound(system).service_rates == pytest.approx(bound, abs=HALF)
    assert stationary(system, ProportionalFair()).service_rates == pytest.approx(proportional, abs=HALF)
    assert stationary(system, DRF()).service_rates == pytest.approx(drf, abs=HALF)


def test_drf_exceeds_the_bound_of_balanced_fairness():
    system = System.with_load(POOL, MIXES["balanced"], 0.9)
    assert np.all(stationary(system, DRF()).mean_durations > 2.7 * duration_bound(system).mean_durations)
