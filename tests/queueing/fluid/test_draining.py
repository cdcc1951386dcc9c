"""Fluid verdicts against closed forms, the definition of a ray, and trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
)
from fairness.policies.servers.per_server import PerServerDRF
from fairness.testing import random_problem
from queueing.fluid import verdict as verdicts
from queueing.fluid.lyapunov import Certificate, known_certificate
from queueing.fluid.rays import rays
from queueing.fluid.trajectory import drift, trajectory
from queueing.fluid.verdict import CRITICAL, Outcome, Probe, fluid_verdict, grows
from queueing.model.system import System
from tests.own_policies import first_round, handed, longest_first, short_first

CROSSED = Problem([[1, 0.1], [0.1, 1]], [1, 1])
LINEAR = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
HALF = Problem([[1], [1]], [1])


def halves(problem, counts):
    """Each of two classes owns half of the pool, used or not."""
    return 0.5 * (np.asarray(counts) > 0)


def chase(problem, counts):
    """Three classes: of two present, i runs before i + 1; of three, smallest or who beats the largest."""
    x = np.asarray(counts, dtype=float)
    here = (x > 0).astype(float)
    pair = here * (1 - np.roll(here, 1, axis=-1))
    ordered = np.sort(x, axis=-1)
    chosen = np.where(ordered[..., 0] < 0.5 * ordered[..., 1], x.argmin(-1), (x.argmax(-1) - 1) % 3)
    return np.where(here.all(axis=-1, keepdims=True), np.eye(3)[chosen], pair)


@pytest.mark.parametrize("policy", [DRF(), MaxMin(), ProportionalFair(), BottleneckMax(), first_round])
@pytest.mark.long
def test_rays_are_invariant_by_definition_and_attract_trajectories(policy):
    rng = np.random.default_rng(3)
    for _ in range(6):
        problem = random_problem(rng, 2, 3, weighted=True)
        system = System.with_load(problem, rng.uniform(0.3, 1, 2), 0.85, rng.uniform(0.5, 2, 2))
        found = rays(system, policy)
        assert found
        for ray in found:
            if not ray.held and not ray.sliding:
                # Roots to rounding; policies that iterate are accurate to 1e-10 relatively.
                np.testing.assert_allclose(
                    drift(system, policy, 7 * ray.direction), ray.growth * ray.direction, atol=1e-8
                )
            assert ray.direction.sum() == pytest.approx(1, abs=1e-14)
        path = trajectory(system, policy, [1.0, 2.0])
        last = path.counts[-2] / path.counts[-2].sum()
        near = min(found, key=lambda ray: float(np.abs(ray.direction - last).max()))
        # At 1e-9 of the start the direction has converged but for slow modes.
        assert np.abs(near.direction - last).max() < 1e-3
        assert near.kind != "repelling"
        assert fluid_verdict(system, policy, theorems=False).status == "stable"


@pytest.mark.parametrize(("first", "second"), [(0.2, 0.6), (0.6, 0.2), (0.45, 0.45), (0.6, 0.6)])
def test_halves_that_are_not_handed_over(first, second):
    verdict = fluid_verdict(System(Problem([[1], [1]], [2]), [first, second]), halves)
    assert verdict.stable == (max(first, second) < 0.5)
    # Each class by itself grows at rho - 1/2; rays at both ends if both are served faster than they arrive.
    if max(first, second) > 0.5 and min(first, second) < 0.5:
        assert verdict.growth == pytest.approx(max(first, second) - 0.5, abs=1e-12)


@pytest.mark.parametrize("loads", [(0.2, 0.6), (0.2, 0.9), (0.49, 0.49), (0.7, 0.28)])
def test_halves_that_are_handed_over_serve_the_averaged_rate(loads):
    system = System(Problem([[1], [1]], [1.2]), loads)
    # As if the pool had capacity 1.
    verdict = fluid_verdict(system, lambda problem, counts: handed(HALF, counts))
    low, high = sorted(loads)
    # The smaller class is there 2 rho of the time; the other has 1/2 then and 1 otherwise (Fayolle and
    # Iasnogorodski's coupled processors): stable if and only if the loads sum to less than 1.
    served = 2 * low * 0.5 + (1 - 2 * low)
    assert max(ray.growth for ray in verdict.rays) == pytest.approx(high - served, abs=1e-12)
    assert verdict.stable == (sum(loads) < 1)


def test_a_jump_inside_is_a_sliding_ray():
    (ray,) = rays(System(HALF, [0.3, 0.4]), longest_first)
    assert (ray.kind, ray.sliding) == ("attracting", True)
    np.testing.assert_allclose(ray.direction, 0.5, atol=1e-12)
    assert ray.growth == pytest.approx(0.7 - 1, abs=1e-12)


@pytest.mark.parametrize(("inward", "status"), [(-1.0, "undecided"), (1.0, "unstable")])
def test_growth_along_a_ray_that_attracts_from_one_side_only_decides_nothing(inward, status):
    # h > 0 near p = 1/2, where g is 0; below g > 0, and above -inward g > 0: noise leaves the ray, or not.
    def policy(problem, counts):
        x = np.asarray(counts, dtype=float)
        p = x[..., 1] / np.maximum(x.sum(axis=-1), 1e-300)
        g = 0.5 * np.maximum(np.abs(p - 0.5) - 0.05, 0) * np.where(p > 0.5, -inward, 1.0)
        h = 0.1 - np.abs(p - 0.5)
        second = g + p * h
        return (1 - np.stack([h - second, second], axis=-1)) * (x > 0)

    verdict = fluid_verdict(System(Problem([[1], [1]], [3]), [1, 1]), policy)
    assert verdict.status == status
    assert {ray.kind for ray in verdict.rays if ray.growth > 0} == {"neutral" if inward < 0 else "attracting"}
    assert inward > 0 or "does not attract from both sides" in verdict.evidence


@pytest.mark.parametrize(("alone", "status"), [(1.5, "undecided"), (1.0, "unstable")])
def test_growth_along_a_ray_that_repels_decides_nothing(alone, status):
    def favour_the_few(problem, counts):
        x = np.asarray(counts, dtype=float)
        part = x / np.maximum(x.sum(axis=-1, keepdims=True), 1e-300)
        both = (x > 0).all(axis=-1, keepdims=True)
        return np.where(both, 1 - part, alone * (x > 0))

    system = System(Problem([[1], [1]], [10]), [0.55, 0.55])
    verdict = fluid_verdict(system, favour_the_few)
    assert verdict.status == status
    middle = next(ray for ray in verdict.rays if ray.kind == "repelling")
    assert middle.growth == pytest.approx(0.1, abs=1e-9)
    np.testing.assert_allclose(middle.direction, 0.5, atol=1e-9)


POLICIES = [DRF(), MaxMin(), AssetFair(), ProportionalFair(), AlphaFair(2.0), AlphaFair(float("inf"))]


@pytest.mark.parametrize("policy", POLICIES)
def test_known_functions_decrease_along_trajectories(policy):
    rng = np.random.default_rng(11)
    for _ in range(2):
        problem = random_problem(rng, 3, 2, weighted=True)
        system = System.with_load(problem, rng.uniform(0.3, 1, 3), 0.8, rng.uniform(0.5, 2, 3))
        verdict = fluid_verdict(system, policy)
        assert (verdict.status, verdict.basis) == ("stable", "theorem")
        assert verdict.certificate.proof
        assert verdict.certificate.drift < 0
        path = trajectory(system, policy, rng.uniform(1, 5, 3), rtol=1e-6, horizon=4.0)
        values = verdict.certificate.value(path.counts)
        # The maximum has kinks, but never rises; rtol 1e-6 per step.
        assert (np.diff(values) <= 1e-5 * values[:-1]).all()


def test_the_theorem_of_the_maximum_covers_filling_that_stops_at_the_first_full_resource():
    rng = np.random.default_rng(5)
    for _ in range(10):
        problem = random_problem(rng, 4, 3)
        system = System.with_load(problem, rng.uniform(0.2, 1, 4), 0.97)
        c = known_certificate(system, DRF()).coefficients
        u = rng.dirichlet(np.full(4, 0.5), 500)
        checked = Certificate("max", c, 1.0, False).checked(u, drift(system, first_round, u))
        # phi_i >= rho_i / 0.97 for the class i that attains the maximum.
        assert checked.drift < 0


def test_a_function_for_other_weights_does_not_pass():
    system = System.with_load(LINEAR, [1, 1, 1], 0.95)
    u = np.random.default_rng(1).dirichlet(np.ones(3), 500)
    wrong = Certificate("max", np.array([1.0, 5.0, 1.0]), 1.0, False)
    assert wrong.checked(u, drift(system, DRF(), u)).drift > 0


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair(), BottleneckMax()])
@pytest.mark.long
def test_search_agrees_with_the_theorem(policy):
    for load in (0.8, 0.99):
        verdict = fluid_verdict(System.with_load(LINEAR, [1, 1, 2], load), policy, starts=2, theorems=False)
        assert verdict.status == "stable"
        assert verdict.basis in ("trajectories", "certificate")
        # The last jobs keep link 2 full: they drain at 1 - load.
        assert verdict.growth == pytest.approx(load - 1, rel=1e-4)


@pytest.mark.parametrize("short", [0.2, 0.4])
def test_short_flows_first_on_both_sides_of_the_closed_form(short):
    # Bonald and Massoulie, SIGMETRICS 2001: the long flow is served (1 - rho_1)(1 - rho_2) of the time.
    free = (1 - short) ** 2
    for sign in (-1, 1):
        system = System(LINEAR, [free + 0.001 * sign, short, short])
        verdict = fluid_verdict(system, short_first, starts=2)
        assert verdict.status == ("stable" if sign < 0 else "unstable")
        assert verdict.growth == pytest.approx(0.001 * sign, rel=1e-3)


@pytest.mark.parametrize("starts", [0, 1, 4])
def test_trajectories_start_at_parts_of_the_classes_and_near_the_slowest(starts):
    # Each class is served by itself, so the growth is that of the classes that are left.
    found = fluid_verdict(
        System(Problem(np.ones((3, 1)), [4]), [0.1, 0.2, 0.3]), halves, starts=starts
    ).outcomes
    # From near the corners, from the corners and from the centre, and as many more as are asked for.
    assert len(found) == 3 + 3 + 1 + starts
    for one in found:
        assert one.start.sum() == pytest.approx(1, abs=1e-12)
    for k in range(len(found) - starts // 2, len(found)):
        slowest = max(found[:k], key=lambda one: (one.growth, one.peak))
        assert (found[k].start >= 0.7 * slowest.start - 1e-12).all()


def test_a_fitted_function_is_told_with_its_drift():
    # Jobs of a class alone leave at 1/2 - rho: any weighted sum of the counts falls.
    verdict = fluid_verdict(System(Problem(np.ones((3, 1)), [4]), [0.1, 0.2, 0.3]), halves, starts=0)
    assert (verdict.status, verdict.basis) == ("stable", "certificate")
    assert not verdict.certificate.proof
    assert verdict.certificate.drift < 0
    assert f"of type {verdict.certificate.kind} has drift at most" in verdict.evidence


class Careless(DRF):
    """Serves nobody where the jobs of a class are a millionth of all, or fewer."""

    def __call__(self, problem, counts):
        few = np.min(counts, axis=-1, keepdims=True) < 1e-6 * np.sum(counts, axis=-1, keepdims=True)
        return np.where(few, 0.0, super().__call__(problem, counts))


def test_a_drift_that_contradicts_the_theorem_next_to_the_faces_is_seen():
    class SaysDRF(Careless):
        family = DRF().family

    system = System(LINEAR, [0.2, 0.2, 0.2])
    verdict = fluid_verdict(system, DRF())
    assert (verdict.status, verdict.basis) == ("stable", "theorem")
    verdict = fluid_verdict(system, SaysDRF())
    assert (verdict.status, verdict.basis) == ("undecided", "theorem")
    assert verdict.certificate.drift >= 0


def test_a_class_with_a_link_of_its_own_stays_empty():
    probe = Probe(System(Problem(np.eye(2), [1, 1]), [0.3, 0.4]), DRF(), np.array([1.0, 0.0]), 100)
    np.testing.assert_allclose(probe.mean_drift(), [0.3 - 1.0, 0.0], atol=1e-8)


def test_after_a_trajectory_that_was_given_up_little_is_asked():
    asked = [0]

    class Counted(Careless):
        def __call__(self, problem, counts):
            asked[0] += 1
            return super().__call__(problem, counts)

    verdict = fluid_verdict(System(LINEAR, [0.2, 0.2, 0.2]), Counted(), max_evaluations=500)
    assert (verdict.status, verdict.basis) == ("undecided", "trajectories")
    assert "was given up after 500 evaluations" in verdict.evidence
    # Those before it, itself and all others; small batches are asked again state by state.
    drained = sum(one.kind == "drained" for one in verdict.outcomes)
    assert asked[0] <= 3 * 500 * (drained + 2) + 1000


@pytest.mark.parametrize(("load", "status"), [(0.3, "stable"), (0.36, "unstable")])
@pytest.mark.long
def test_cycles_through_the_faces(load, status):
    system = System(Problem([[1], [1], [1]], [2]), [load] * 3)
    verdict = fluid_verdict(system, chase, starts=2)
    assert verdict.status == status
    # While a class drains at 1 - 2 rho, the next grows at rho, so a phase multiplies by rho/(1 - 2 rho).
    assert (" ends on a cycle through " in verdict.evidence) == (status == "unstable")
    cycle = next(one for one in verdict.outcomes if one.kind == "cycle")
    factor = load / (1 - 2 * load)
    path = trajectory(system, chase, [0.0, 0.0, 1.0], horizon=1.0 / (1 - 2 * load))
    assert path.counts[-1].sum() == pytest.approx(factor, rel=1e-6)
    # |x| moves linearly from 1 to the factor within a phase, so s = T log(factor)/(factor - 1) for it.
    expected = (factor - 1) * (1 - 2 * load)
    assert cycle.growth == pytest.approx(expected, rel=1e-4)


@pytest.mark.long
def test_growth_inside_without_a_ray():
    # The direction circles the centre at distance 0.15, and |x| grows at the rate h that was put in.
    for h in (-0.05, 0.05):

        def circling(problem, counts, h=h):
            x = np.asarray(counts, dtype=float)
            u = x / np.maximum(x.sum(axis=-1, keepdims=True), 1e-300)
            w = u - 1 / 3
            turn = 0.2 * (np.roll(w, -1, axis=-1) - np.roll(w, 1, axis=-1))
            pull = 0.1 * (1 - (w**2).sum(axis=-1, keepdims=True) / 0.15**2) * w
            return np.maximum(0.5 - (h * u + turn + pull), 0.0) * (x > 0)

        verdict = fluid_verdict(System(Problem(np.ones((3, 1)), [20]), [0.5] * 3), circling, starts=1)
        assert verdict.status == ("stable" if h < 0 else "unstable")
        inside = [one for one in verdict.outcomes if one.kind in ("drained", "grown", "ray")]
        assert inside
        assert verdict.growth == pytest.approx(h, rel=0.05)


@pytest.mark.parametrize(
    ("excess", "status"),
    [(-1e-6, "stable"), (-1e-12, "undecided"), (0.0, "undecided"), (1e-12, "undecided"), (1e-6, "unstable")],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_growth_that_rounding_could_have_made_decides_nothing(classes, excess, status):
    # Each class owns half a unit, whatever the others do: the jobs of the first one grow at its load - 1/2.
    system = System(Problem(np.ones((classes, 1)), [4]), [0.5 + excess] + [0.1] * (classes - 1))
    verdict = fluid_verdict(system, halves, starts=0)
    assert verdict.status == status
    assert verdict.stable == (status == "stable")
    assert ("no growth or drain is seen" in verdict.evidence) == (status == "undecided")
    assert verdict.growth == pytest.approx(excess, rel=1e-4, abs=1e-13)


class HalfOfDRF(DRF):
    """Says that it is DRF and serves half of that."""

    family = DRF().family

    def __call__(self, problem, counts):
        return super().__call__(problem, counts) / 2


@pytest.mark.parametrize(("load", "status"), [(0.4, "stable"), (0.5, "undecided"), (0.6, "undecided")])
def test_a_drift_that_contradicts_the_theorem_leaves_it_open(load, status):
    # One resource of which half is used: V = x_1 + x_2 (equal classes) falls at 1/2 - load; at 1/2 it stays.
    verdict = fluid_verdict(System(HALF, [load / 2, load / 2]), HalfOfDRF())
    assert (verdict.status, verdict.basis) == (status, "theorem")
    assert verdict.certificate.directions == 200


def test_load_one_no_arrivals_and_absent_classes():
    verdict = fluid_verdict(System(HALF, [0.5, 0.5]), DRF())
    assert (verdict.status, verdict.basis) == ("unstable", "load")
    assert fluid_verdict(System(HALF, [0.0, 0.0]), DRF()).stable
    assert fluid_verdict(System(HALF, [0.4, 0.0]), halves).stable
    assert fluid_verdict(System(HALF, [0.6, 0.0]), halves).status == "unstable"
    assert fluid_verdict(System(LINEAR, [0.9, 0.0, 0.05]), DRF()).certificate.coefficients[1] == 0


def test_clusters():
    cluster = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]])
    # With both classes present each runs 5 + 1 tasks (see the example of PerServerDRF) while 10 + 10 fit;
    # the rest of the time a class alone runs 12.
    for load, status in ((5.9, "stable"), (6.1, "unstable")):
        assert fluid_verdict(System(cluster, [load, load]), PerServerDRF()).status == status
    assert "servers has load" in fluid_verdict(System(cluster, [11, 11]), PerServerDRF()).evidence


def test_errors_and_reports():
    limited = System(Problem([[1], [1]], [1], limits=[1, np.inf]), [0.1, 0.1])
    with pytest.raises(ModelError, match=r"limit of 1 tasks per job"):
        fluid_verdict(limited, DRF())
    # Of a class without arrivals no limit ever binds.
    silent = System(limited.problem, [0.0, 0.1])
    assert fluid_verdict(silent, DRF()).basis == "theorem"
    assert fluid_verdict(silent, DRF(), theorems=False).growth == pytest.approx(-0.9)
    assert trajectory(silent, DRF(), [0, 9]).emptying_time == pytest.approx(10)
    with pytest.raises(ModelError, match=r"'class 1' has a limit"):
        trajectory(silent, DRF(), [1, 9])
    with pytest.raises(ModelError, match=r"depends on proportions only"):
        fluid_verdict(System(HALF, [0.1, 0.1]), lambda problem, counts: np.minimum(counts, 0.5))
    with pytest.raises(ModelError, match=r"starts must be"):
        fluid_verdict(System(HALF, [0.1, 0.1]), DRF(), starts=-1)
    with pytest.raises(ModelError, match=r"one or two classes with arrivals, but 3 have"):
        rays(System(LINEAR, [0.1] * 3), DRF())
    verdict = fluid_verdict(System(LINEAR, [0.3, 0.3, 0.4]), short_first, starts=0)
    assert "short_first is stable in the fluid limit" in repr(verdict)
    assert "no proof" in verdict.evidence
    assert len(verdict.to_dataframe()) == len(verdict.outcomes)
    short = fluid_verdict(System.with_load(LINEAR, [1, 1, 1], 0.9), DRF(), theorems=False, max_evaluations=5)
    assert short.status == "undecided"
    assert "given up after 5 evaluations" in short.evidence


@pytest.mark.parametrize("kind", ["ray", "cycle", "drained", "grown"])
@pytest.mark.parametrize("part", [-1.5, -0.7, 0.7, 1.5])
def test_growth_is_told_from_none_by_the_work_that_arrives(kind, part):
    """Of sizes 1 and 10 at loads 1 and 2: a job in the mean direction is 5.5 of work."""
    system = System(Problem([[1], [1]], [9]), [1.0, 0.2], [1.0, 10.0])
    growth = part * CRITICAL * 3.0 / 5.5
    one = Outcome(np.full(2, 0.5), kind, np.full(2, 0.5), growth, 1.0)
    assert grows(system, one) == (part > 1)
    assert grows(system, one, sign=-1) == (part < -1)
    assert not grows(system, Outcome(one.start, "unfinished", one.direction, growth, 1.0))


def test_a_fitted_certificate_is_checked_where_it_was_not_fitted(monkeypatch):
    system, given = System(CROSSED, [0.4, 0.4]), []
    monkeypatch.setattr(verdicts, "fitted_certificate", lambda *fit, others: given.append((fit, others)))
    stream = np.random.default_rng(0)
    assert verdicts._fitted(system, DRF(), np.arange(2), stream) is None
    [((directions, _), (checked, drifts))] = given
    assert (checked > 0).all()
    assert len(checked) == 480
    assert (directions[:, None] == checked).all(axis=2).any(axis=0).mean() < 0.4
    np.testing.assert_allclose(drifts, [drift(system, DRF(), u) for u in checked], rtol=1e-12)
