"""The search for instabilities on policies whose stability is known."""

from __future__ import annotations

import numpy as np
import pytest

from capacity.studies.instability import RandomLines, RandomSystems, least_emptying_time, search_instability
from fairness import BottleneckMax, ModelError, Problem, ProportionalFair
from queueing.fluid.trajectory import trajectory
from queueing.model.system import System
from tests.own_policies import short_first


def short_first_is_stable(system):
    """Bonald and Massoulie 2001: class 0 gets the part of time in which all links are free."""
    return system.loads[0] < np.prod(1 - system.loads[1:])


@pytest.mark.parametrize(("links", "n"), [(2, 8), pytest.param(3, 6, marks=pytest.mark.long)])
def test_short_flows_first_is_caught_exactly_where_it_is_unstable(links, n):
    search = search_instability(short_first, RandomLines(links, load=(0.5, 0.95)), n, rng=7, starts=0)
    truth = [short_first_is_stable(one.system) for one in search.findings]
    assert 0 < sum(truth) < n  # both sides of the boundary are drawn
    assert [one.found != "unstable" for one in search.findings] == truth
    assert "undecided" not in {one.found for one in search.findings}
    assert search.witness.found == "unstable"
    # The witness by the integrator of trajectories: far more jobs than at its start.
    worst = search.witness
    start = max(worst.verdict.outcomes, key=lambda one: one.growth).start
    path = trajectory(worst.system, short_first, start + 1e-3, horizon=5000.0)
    assert path.counts[-1].sum() > 2 * path.counts[0].sum()
    assert np.isposinf(worst.ratio)
    assert np.isnan(search.fraction_bound)
    assert "witness, system" in repr(search)


@pytest.mark.long
def test_proportional_fairness_is_stable_by_its_theorem_and_by_search():
    proved = search_instability(ProportionalFair(), RandomSystems(3, 2), 3, rng=2)
    assert proved.counts["theorem"] == 3
    assert "stable by a theorem" in repr(proved)
    assert proved.findings[0].verdict.certificate.proof
    found = search_instability(ProportionalFair(), RandomSystems(3, 2), 2, rng=2, starts=0, theorems=False)
    assert found.counts["unstable"] == found.counts["theorem"] == 0
    assert found.witness is None
    # No policy empties faster than possible; 1e-6: rays are found to that accuracy.
    assert (found.ratios >= 1 - 1e-6).all()
    assert found.fraction_bound == pytest.approx(1 - 0.05 ** (1 / 2))
    assert "evidence, no proof" in repr(found)
    again = search_instability(ProportionalFair(), RandomSystems(3, 2), 1, rng=2, starts=0, theorems=False)
    np.testing.assert_array_equal(again.ratios, found.ratios[:1])
    assert len(found.to_dataframe()) == 2


def test_two_classes_are_decided_by_rays_and_bmf_has_no_theorem():
    search = search_instability(BottleneckMax(), RandomSystems(2, 2), 4, rng=3)
    assert search.counts["rays"] == 4
    # A ray is a straight trajectory: its emptying time by the integrator.
    one = search.findings[0]
    ray = max(
        one.verdict.rays, key=lambda ray: -1 / ray.growth / least_emptying_time(one.system, ray.direction)
    )
    path = trajectory(one.system, BottleneckMax(), ray.direction)
    least = least_emptying_time(one.system, ray.direction)
    assert path.emptying_time / least == pytest.approx(one.ratio, rel=1e-4)  # rtol of the integrator


def test_an_effort_that_is_too_small_is_undecided():
    search = search_instability(BottleneckMax(), RandomSystems(3, 3), 1, rng=1, max_evaluations=5)
    assert search.counts["undecided"] == 1
    assert np.isnan(search.fraction_bound)


def test_least_emptying_time_of_one_resource():
    system = System(Problem([[1], [2]], [4]), [0.5, 0.25], [2, 1])
    # Work 3 * 2 * 1 + 1 * 1 * 2 = 8 drains at 4 - 1.5.
    assert least_emptying_time(system, np.array([3.0, 1.0])) == pytest.approx(8 / 2.5)


def test_families_stay_inside_the_capacity_region():
    rng = np.random.default_rng(1)
    for draw in (RandomSystems(4, 3), RandomLines(1), RandomLines(4)):
        for k in range(20):
            top = draw(rng, k).relative_loads.max()
            assert draw.load[0] * 0.5 <= top < 1


def test_errors():
    with pytest.raises(ModelError, match="load must be two"):
        RandomSystems(2, 2, load=(0.5, 1.0))
    with pytest.raises(ModelError, match="kinds must be among"):
        RandomSystems(2, 2, kinds=("dens",))
    with pytest.raises(ModelError, match="n must be a whole number"):
        search_instability(short_first, RandomLines(), 0)
    busy = System(Problem([[1]], [1]), [1.5])
    with pytest.raises(ModelError, match="draw smaller loads"):
        search_instability(ProportionalFair(), lambda rng, index: busy, 1)


def test_the_busiest_link_has_a_load_of_the_interval():
    for links in (1, 3):
        draw, rng = RandomLines(links), np.random.default_rng(0)
        loads = [draw(rng, k).relative_loads.max() for k in range(50)]
        assert min(loads) >= 0.8 - 1e-12
        assert max(loads) <= 0.99 + 1e-12
