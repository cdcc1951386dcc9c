"""The decay of V outside of a box, compared with QV itself, state by state."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from fairness import DRF, TSF, AlphaFair, BottleneckMax, Cluster, MaxMin, Problem, ProportionalFair
from queueing import System, check_certificate
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.drifts.alpha_fair import scales_of_targets
from queueing.certificates.drifts.decay import decay, radius
from queueing.certificates.drifts.powers import fall
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family, levelling_numbers, pool_of
from queueing.enclosures.drift_search import Outlook
from queueing.enclosures.numeric_drift import _searched, numeric_drifts

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])
THREE = Problem([[1, 0.1], [0.1, 1], [0.5, 0.4]], [1, 1])
SERVERS = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]], eligible=[[True, True], [False, True]])


def case(name: str) -> tuple[System, Any, dict[str, Any], Drift, tuple[int, ...]]:
    if name.startswith("alpha"):
        alpha = float(name.split()[1])
        system = System.with_load(POOL, [1, 2], 0.5, mean_sizes=[1.0, 3.0])
        scales = scales_of_targets(system.loads, POOL.weights, system.mean_sizes, alpha)
        return system, AlphaFair(alpha), {"alpha": alpha}, Drift(1 + alpha, scales, 0.02, 0.1), (240, 180)
    if name == "BMF of three":
        system = System.with_load(THREE, [1, 1, 1], 0.6)
        drift = Drift(3.0, np.array([0.74, 0.73, 1.0]), 0.03, 0.1, {"spare": 0.4})
        return system, BottleneckMax(), {}, drift, (100, 100, 75)
    system = System.with_load(SERVERS, [1, 1], 0.6)
    return system, TSF(), {}, Drift(4.0, np.ones(2), 0.1, 0.1, {"spare": 0.25}), (60, 60)


@pytest.mark.parametrize(
    "name",
    [
        "alpha 0.5",
        "alpha 0.75",
        "alpha 1.5",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("BMF of three", "TSF")),
    ],
)
def test_v_falls_as_fast_as_is_proved(name: str) -> None:
    system, policy, parameters, drift, shape = case(name)
    known = "alpha-fair" if parameters else policy.name
    pool = pool_of(system, known)
    level = radius(drift, pool, shape)
    spare = family(known, drift).spare(pool, known, parameters, drift, level)
    gamma = decay(drift, pool, shape, spare)
    assert gamma > 0
    rng = np.random.default_rng(1)
    n = len(shape)
    counts = (rng.random((3000, n)) ** 3 * np.array(shape) * rng.uniform(0, 4, (3000, 1))).astype(int)
    counts *= rng.random((3000, n)) < 0.9
    counts[:n] = np.diag(shape)  # next to the box, on the axes
    outside = counts[(counts >= np.array(shape)).any(axis=1)]
    assert len(outside) > 500

    def t(x: Any) -> Any:
        return ((drift.scales * x) ** drift.exponent).sum(axis=1) ** (1 / drift.exponent)

    tasks = policy.tasks(system.problem, outside) if system.is_cluster else policy(system.problem, outside)
    flow = np.zeros(len(outside))
    for i, step in enumerate(np.eye(n, dtype=int)):
        there = outside[:, i] > 0
        flow += system.arrival_rates[i] * np.expm1(drift.theta * (t(outside + step) - t(outside)))
        less = np.where(there[:, None], outside - step, outside)
        flow += tasks[:, i] / system.mean_sizes[i] * np.expm1(drift.theta * (t(less) - t(outside)))
    assert (flow <= -gamma).all()


@pytest.mark.parametrize("name", ["PF", "BMF", "alpha 1.5", "alpha 3", "limits", "DRF", "MMF of three"])
def test_powers_of_v_fall_as_fast_as_is_proved(name: str) -> None:
    """QV <= -gamma U state by state, outside of boxes that are hardly large enough and of larger ones."""
    sizes = np.array([1.0, 3.0])
    system = System.with_load(POOL, [1, 2], 0.8, mean_sizes=sizes)
    parameters: dict[str, Any] = {}
    if name.startswith("alpha"):
        known, parameters = "alpha-fair", {"alpha": float(name.split()[1])}
        policy: Any = AlphaFair(parameters["alpha"])
    elif name in ("PF", "limits"):
        known, policy = "PF", ProportionalFair()
        if name == "limits":
            system = System.with_load(Problem(POOL.demands, [1, 1], limits=[0.2, 0.1]), [1, 2], 0.8, sizes)
    elif name == "BMF":
        known, policy = "BMF", BottleneckMax()
    elif name == "DRF":
        known, policy = "DRF", DRF()
    else:
        known, policy, system = "MMF", MaxMin(), System.with_load(THREE, [1, 1, 1], 0.4)
    pool = pool_of(system, known)
    kind, n = family(known), system.n_classes
    if kind.spares is not None:
        alpha = parameters.get("alpha", 1.0)
        targets = system.loads * [1.1, 1.2]
        exponent, scales = alpha + 1, scales_of_targets(targets, [1, 1], sizes, alpha)
    else:
        c = 1 / system.loads
        exponent = 8.0 if n == 2 else 3.0
        scales = c * (c * system.arrival_rates) ** (-1 / exponent)
    drift = Drift(exponent, scales / scales.max(), 0.0, 1.0)
    rng = np.random.default_rng(2)
    proved = []
    for side in (20, 40, 80, 160, 320, 640, 1280, 2560):
        shape = tuple((side * np.linspace(1, 0.6, n)).astype(int).tolist())
        gamma = -1.0
        with suppress(CertificateError):
            gamma = kind.decay(pool, known, parameters, drift, shape)
        if not gamma > 0:
            continue
        proved.append(gamma)
        counts = (rng.random((3000, n)) ** 3 * np.array(shape) * rng.uniform(0, 4, (3000, 1))).astype(int)
        counts *= rng.random((3000, n)) < 0.9
        counts[:n] = np.diag(shape)
        outside = counts[(counts >= np.array(shape)).any(axis=1)]
        least = radius(drift, pool, shape)

        def v(x: Any, least: float = least) -> Any:
            return ((drift.scales * x / least) ** drift.exponent).sum(axis=1)

        tasks, flow = policy(system.problem, outside), np.zeros(len(outside))
        for i, step in enumerate(np.eye(n, dtype=int)):
            less = np.maximum(outside - step, 0)
            flow += system.arrival_rates[i] * (v(outside + step) - v(outside))
            flow += tasks[:, i] / system.mean_sizes[i] * (v(less) - v(outside))
        growth = np.maximum(1.0, (outside / np.array(shape)).max(axis=1)) ** (drift.exponent - 1)
        assert (flow <= -gamma * growth * (1 - 1e-9)).all()
    assert len(proved) >= 2


@pytest.mark.parametrize("theta", [0.0, 0.1])
@pytest.mark.parametrize(
    ("known", "exponent", "least"), [("DRF", 1e3, 1.0), ("DRF", 1e50, 0.4), ("PF", 2.0, 1e-50)]
)
def test_numbers_that_leave_the_floats_prove_nothing(
    known: str, exponent: float, least: float, theta: float
) -> None:
    pool = pool_of(System.with_load(POOL, [3, 1], 0.6), known)
    drift = Drift(exponent, np.array([1.0, least]), theta, 1.0)
    with pytest.raises(CertificateError, match="'drift'"):
        family(known).decay(pool, known, {}, drift, (20, 20))


def test_a_v_above_all_floats_is_refused_in_fractions_too() -> None:
    system = System.with_load(POOL, [1, 1], 0.01)
    shape, drift = (4, 720), Drift(2.0, np.ones(2), 1.0, 1e-9)
    given = system, "DRF", {}, shape, drift, (Functional("jobs", 0),), np.zeros((1, *shape)), np.zeros(shape)
    nothing = np.array([np.inf])
    certificate = Certificate(*given, np.array([1e12]), -nothing, nothing)
    assert [tuple(bound) for bound in check_certificate(certificate)] == [(-np.inf,), (np.inf,)]
    with pytest.raises(CertificateError, match="'inside': V next to the box"):
        check_certificate(certificate, exact=True)


def test_a_spare_that_is_no_number_proves_nothing() -> None:
    pool = pool_of(System.with_load(POOL, [1, 1], 0.5), "PF")
    drift = Drift(2.0, np.ones(2), 0.0, 1.0)
    assert fall(drift, pool, (60, 60), [0.5, 0.5]) > 0
    for spares in ([0.5, np.nan], [np.nan, 0.5]):
        assert not fall(drift, pool, (60, 60), spares) > 0


@pytest.mark.parametrize(
    ("policy", "problem", "load"),
    [
        ("BMF", THREE, 0.9),
        pytest.param(
            *("BMF", Problem([[1, 0.1, 0.2], [0.1, 1, 0.3], [0.4, 0.2, 1]], [1, 1, 1]), 0.8),
            marks=pytest.mark.long,
        ),
        ("DRF", THREE, 0.8),
        ("TSF", SERVERS, 0.9),
        ("C-DRFH", SERVERS, 0.8),
        ("DRF per server", SERVERS, 0.5),
    ],
)
@pytest.mark.long
def test_norms_that_fall_are_found_and_proved(policy: str, problem: Any, load: float) -> None:
    """Each is proved before it is handed over; the best one spares most of what the load leaves."""
    system = System.with_load(problem, np.ones(problem.n_classes), load, mean_sizes=0.5)
    pool = pool_of(system, policy)
    found = list(numeric_drifts(pool, levelling_numbers(pool, policy, {})))
    assert found
    spares = [drift.hints["spare"] for drift in found]
    assert spares == sorted(spares)
    assert 0 < spares[-1] < 1 / load - 1
    if policy != "DRF per server":
        assert spares[-1] > 0.6 * (1 / load - 1)


@pytest.mark.long
def test_units_of_the_loads_do_not_matter() -> None:
    """Loads of 1e30 tasks, whose powers are no floats, want the norm of loads near 1."""
    found = []
    for unit in (1.0, 2.0**100):
        problem = Problem(THREE.demands / unit, THREE.capacities)
        pool = pool_of(System.with_load(problem, [1, 1, 1], 0.6), "DRF")
        numbers = levelling_numbers(pool, "DRF", {})
        with np.errstate(all="raise", under="ignore"):
            found.append(_searched(pool, numbers, 16, np.random.default_rng(0)))
    (scales, spare), (other_scales, other_spare) = found
    assert spare > 0.3
    assert other_spare == pytest.approx(spare, rel=1e-6)
    assert other_scales == pytest.approx(scales, rel=1e-6)


def test_no_norm_is_found_where_none_falls() -> None:
    """DRF on every server by itself loses capacity: here it is unstable below load 1."""
    system = System.with_load(Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]]), [1, 1], 0.8)
    pool = pool_of(system, "DRF per server")
    assert not list(numeric_drifts(pool, levelling_numbers(pool, "DRF per server", {})))


def test_tails_are_read_where_no_face_bends_them() -> None:
    counts = np.arange(120)
    bent_by_face = 0.9**counts * (1 - 0.8 ** (122 - counts))
    assert Outlook.of([bent_by_face]).ratios == pytest.approx(0.9, rel=1e-3)
    bent_by_itself = np.exp(-0.05 * counts - 3e-4 * counts**2)
    middle = np.exp(-0.05 - 6e-4 * (90 + 105) / 2)
    assert Outlook.of([bent_by_itself]).ratios == pytest.approx(middle, rel=1e-3)
