"""Enclosures against closed forms, against boxes far larger, and what they refuse."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fairness import (
    CDRFH,
    DRF,
    PSDSF,
    TSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    PerServerDRF,
    Problem,
    ProportionalFair,
)
from fairness.display.result import Result
from fairness.display.tables import outward
from fairness.errors import UnstableError
from fairness.machine import work
from fairness.machine.work import OutOfTime
from queueing import AtLeast, CertificateError, Erlang, System, check_certificate, enclose, stationary
from queueing.certificates.certificate import Functional
from queueing.chain.solvers.balance import box_rates
from queueing.enclosures.building import Builder
from queueing.enclosures.enclose import _Search
from queueing.enclosures.poisson_equation import LEFT, PoissonEquation, faces

TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])
HARD = Problem([[1, 0.1], [0.1, 1], [0.5, 0.4]], [1, 1])
MIRRORED = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]])
SERVERS = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]], eligible=[[True, True], [False, True]])


def holds(bounds, values, rounding=1e-12):
    lower, upper = bounds
    values = np.asarray(values)
    return bool(((lower <= values * (1 + rounding)) & (upper >= values * (1 - rounding))).all())


@pytest.fixture(scope="module")
def two():
    return enclose(System.with_load(TWO, [1, 2], 0.6, [1, 3]), DRF(), of=["variances", AtLeast(2)])


def test_one_class_is_one_server():
    load = 0.7
    found = enclose(System(Problem([[2]], [2]), [load]), DRF(), of=["variances", AtLeast(4)])
    assert found.reached <= 1e-8
    assert not found.shortfall
    assert holds(found.mean_jobs, load / (1 - load))
    assert holds(found.variances, load / (1 - load) ** 2)
    chance = found.probability(4, 0)
    assert chance.low <= load**4 <= chance.high
    assert chance.high - chance.low < 1e-8
    assert holds(found.mean_durations, 1 / (1 - load))
    assert holds(found.service_rates, 1 - load)


def test_resources_apart_are_queues_apart():
    loads = np.array([0.5, 0.3])
    found = enclose(System(Problem([[1, 0], [0, 1]], [1, 1]), loads), ProportionalFair())
    assert holds(found.mean_jobs, loads / (1 - loads))
    assert found.reached <= 1e-8


def test_one_class_with_limits_is_many_servers():
    """A tenth of the resource for a job at most: M/M/10, whose box must reach beyond ten jobs."""
    law = np.array([3.0**k / math.factorial(k) for k in range(10)])
    waits = 3.0**10 / math.factorial(10) / (1 - 0.3)
    law, waits = law / (law.sum() + waits), waits / (law.sum() + waits)
    found = enclose(System(Problem([[1]], [1], limits=[0.1]), [0.3]), DRF())
    assert holds(found.mean_jobs, law @ range(10) + waits * (10 + 0.3 / (1 - 0.3)))
    assert found.reached <= 1e-8
    assert not found.shortfall


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()], ids=lambda p: p.name)
def test_boxes_reach_as_far_as_limits_matter(policy):
    system = System.with_load(Problem(TWO.demands, TWO.capacities, limits=[0.1, 0.2]), [1, 1], 0.3)
    found = enclose(system, policy)
    assert holds(found.mean_jobs, stationary(system, policy, tail=1e-12).mean_jobs, 1e-9)
    assert found.reached <= 1e-8


@pytest.mark.parametrize(
    "policy",
    [DRF(), ProportionalFair(), pytest.param(AssetFair(), marks=pytest.mark.long)],
    ids=lambda policy: policy.name,
)
def test_one_resource_is_processor_sharing(policy):
    """Equal shares of one resource are insensitive: E[x_i] = rho_i/(1 - rho), all jobs a geometric law."""
    system = System(Problem([[1], [1]], [1]), [0.2, 0.04], mean_sizes=[1, 10])
    found = enclose(system, policy, of=["jobs", AtLeast(3)])
    assert holds(found.mean_jobs, [0.5, 1.0])
    assert found.reached <= 1e-8
    assert found.total_jobs.low <= 1.5 <= found.total_jobs.high
    assert found.probability(3).low <= 0.6**3 <= found.probability(3).high


POWER = {
    "theta": (lambda c: replace(c, drift=replace(c.drift, theta=1e-3)), "drift|outside|face|inside"),
    "gamma": (lambda c: replace(c, drift=replace(c.drift, gamma=1.0001 * c.drift.gamma)), "drift"),
    "exponent": (lambda c: replace(c, drift=replace(c.drift, exponent=1.999)), "data"),
    "another exponent": (lambda c: replace(c, drift=replace(c.drift, exponent=3.0)), "drift"),
    "scales": (
        lambda c: replace(c, drift=replace(c.drift, scales=c.drift.scales[::-1])),
        "drift|face|inside",
    ),
    "delta": (lambda c: replace(c, delta=c.delta / 100), "outside"),
    "v at a face": (lambda c: replace(c, v=c.v + (c.v == c.v[-1, 0]) * 1e3), "face"),
    "v": (lambda c: replace(c, v=c.v * 1.01), "inside|face"),
    "squares": (
        lambda c: replace(c, functionals=(*c.functionals[:-1], Functional("products", 0))),
        "outside",
    ),
    "box": (lambda c: replace(c, shape=(c.shape[0] // 9, c.shape[1])), "data"),
    "short box": (
        lambda c: replace(c, shape=(60, c.shape[1]), h=c.h[:, :60].copy(), v=c.v[:60].copy()),
        "drift|face|outside",
    ),
}


@pytest.fixture(scope="module")
def busy():
    return enclose(System.with_load(TWO, [3, 1], 0.9), ProportionalFair())


def test_near_load_1_powers_make_smaller_boxes(busy):
    """The same means are proved by a norm's exponential, on a larger box."""
    certificate = busy.certificate
    assert certificate.drift.theta == 0
    assert math.prod(certificate.shape) < 12_000
    assert busy.reached <= 1e-8
    other = enclose(System.with_load(TWO, [3, 1], 0.9), ProportionalFair(), of=["jobs", "variances"])
    assert other.certificate.drift.theta > 0
    for (low, high), (least, most) in zip(
        np.transpose(busy.mean_jobs), np.transpose(other.mean_jobs), strict=True
    ):
        assert max(low, least) <= min(high, most)


def test_squares_grow_faster_than_the_fall_of_a_square(busy):
    """However large delta is: the proof has no room for them where V is quadratic itself."""
    c = busy.certificate
    squares = (*c.functionals[:-1], Functional("products", 0))
    nothing = np.full(len(c.delta), np.inf)
    with pytest.raises(CertificateError, match="the exponent must be at least 3 for jobs of class 0 squared"):
        check_certificate(replace(c, functionals=squares, delta=c.delta * 1e9, lower=-nothing, upper=nothing))


@pytest.mark.parametrize("name", POWER)
def test_tampered_powers_are_rejected(busy, name):
    change, condition = POWER[name]
    with pytest.raises(CertificateError) as caught:
        check_certificate(change(busy.certificate))
    assert caught.value.condition in condition.split("|")


@pytest.mark.parametrize(
    "policy",
    [
        PSDSF(division="time"),
        *(pytest.param(p, marks=pytest.mark.long) for p in (TSF(), CDRFH(), PerServerDRF())),
    ],
    ids=lambda policy: policy.name,
)
def test_clusters(policy):
    """The law of a larger box lies within; the tasks of both come from engines of their own."""
    system = System.with_load(SERVERS, [2, 1], 0.3)
    found = enclose(system, policy, width=1e-6)
    assert found.reached <= 1e-6
    assert holds(found.mean_jobs, stationary(system, policy, tail=1e-11).mean_jobs, 1e-9)


@pytest.mark.long
def test_bottleneck_fairness_of_three_classes_is_stable():
    """No lemma says so: the drift is found and proved for this system, cell by cell."""
    system = System.with_load(HARD, [1, 1, 1], 0.4)
    found = enclose(system, BottleneckMax(), width=1e-3)
    assert found.reached <= 1e-3
    assert "spare" in found.certificate.drift.hints
    assert holds(found.mean_jobs, stationary(system, BottleneckMax(), tail=1e-9).mean_jobs, 1e-8)
    again = replace(found.certificate.drift, hints={"spare": 3.0})
    with pytest.raises(CertificateError, match="not shown to fall"):
        check_certificate(replace(found.certificate, drift=again))


def test_what_follows_holds_the_law_of_a_larger_box(two):
    law = stationary(two.system, DRF(), tail=1e-13)
    assert two.reached <= 1e-8
    assert holds(two.mean_jobs, law.mean_jobs, 1e-10)
    assert holds(two.mean_durations, law.mean_durations, 1e-10)
    assert holds(two.service_rates, law.service_rates, 1e-10)
    assert holds(two.variances, law.variances, 1e-10)
    total = law.covariance.sum()
    assert two.total_variance.low <= total * (1 + 1e-10)
    assert two.total_variance.high >= total * (1 - 1e-10)
    for k in range(2):
        chance, found = law.marginals[k][2:].sum(), two.probability(2, k)
        assert found.low <= chance + 1e-12
        assert found.high >= chance - 1e-12


def test_quantities_that_were_not_asked_for_are_refused(two):
    only = enclose(two.system, DRF(), width=1e-4)
    with pytest.raises(ModelError, match="of='variances'"):
        _ = only.variances
    with pytest.raises(ModelError, match=r"of=AtLeast\(jobs=2\)"):
        only.probability(2)
    assert only.probability(0).low == 1.0


def test_classes_without_arrivals_are_empty():
    pool = Problem([[1, 0.1], [0.1, 1], [1, 1]], [1, 1])
    found = enclose(System(pool, [0.3, 0.3, 0]), DRF(), width=1e-6)
    assert found.mean_jobs.lower[2] == found.mean_jobs.upper[2] == 0.0
    assert np.isnan(found.mean_durations.lower[2])


def test_a_width_that_is_not_reached_is_said():
    system = System.with_load(TWO, [1, 1], 0.4)
    found = enclose(system, DRF(), width=1e-15)
    assert "rounding" in found.shortfall
    assert found.reached > 1e-15
    assert "rounding" in found.summary()


@pytest.mark.long
def test_functions_that_prove_nothing_are_not_the_users_fault():
    """Paces ten decades apart: the checker refuses what is found; bounds of an earlier box are kept."""
    sizes = np.array([1.3557771175839998e-05, 79262.66670968215])
    rates = 0.5 * np.array([0.9414710574403774, 0.058528942559622564]) / sizes
    pool = Problem([[1], [1]], [1], weights=[6.515231213829368, 0.13706202580544066])
    with pytest.raises(
        NotConvergedError, match=r"x 33 states proves nothing .*v exceeds V.*; use stationary"
    ):
        enclose(System(pool, rates, mean_sizes=sizes), DRF())


def test_bounds_of_an_earlier_box_are_kept_when_a_later_one_proves_nothing(monkeypatch):
    real, boxes = Builder.certificate, []

    def once(self, shape, *rest):
        boxes.append(shape)
        if len(boxes) > 1:
            raise CertificateError("face", "v exceeds V by 1", (3, 3))
        return real(self, shape, *rest)

    monkeypatch.setattr(Builder, "certificate", once)
    found = enclose(System.with_load(TWO, [1, 1], 0.4), DRF(), width=1e-15)
    assert found.certificate.shape == boxes[0]
    assert "proves nothing" in found.shortfall


@pytest.mark.long
def test_overflow_in_the_search_is_no_warning():
    demands = [[0.12312212373175305, 0.17725823818616115], [0.46821096822827746, 0.20870015512162193],
               [0.5067844805482132, 0.8659388843919245]]  # fmt: skip
    pool = Problem(
        demands, [1, 1], weights=[0.029433133246532323, 0.0013220527573070337, 1.9046572820461087e-06]
    )
    mix = [9.754964787110478e-08, 0.7362821834892322, 0.26371771896111984]
    sizes = [16040.00247086881, 48.747607668196, 147729279.03203362]
    with pytest.raises(NotConvergedError):
        enclose(System.with_load(pool, mix, 0.8, mean_sizes=sizes), DRF(), max_states=50_000)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: enclose(System(TWO, [1, 1]), DRF()), UnstableError, "load"),
        (lambda: enclose(System(TWO, [0.1, 0.1], sizes=Erlang(2)), DRF()), ModelError, "exponential"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), DRF(), of="mean"), ModelError, "'jobs', 'variances'"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), DRF(), of=[]), ModelError, "empty"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), DRF(), width=0), ModelError, "width"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), AlphaFair(0)), ModelError, "alpha = 0 need not be stable"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), lambda p, x: DRF()(p, x)), ModelError, "stationary"),
        (lambda: enclose(System(Cluster([[1]], [[1]]), [0.1]), DRF()), ModelError, "no policy of a cluster"),
        (lambda: enclose(System(TWO, [0.1, 0.1]), TSF()), ModelError, "no policy of a pool"),
        (lambda: enclose(System(SERVERS, [0.1, 0.1]), PSDSF()), ModelError, "PS-DSF rdm has no drift"),
        (lambda: enclose(System(MIRRORED, [8, 8]), PerServerDRF()), ModelError, "no drift that is proved at"),
        (lambda: enclose(System(TWO, [0, 0]), DRF()), ModelError, "arrivals"),
        (lambda: enclose(System(Problem([[1]] * 5, [1]), [0.1] * 5), DRF()), ModelError, "classes"),
    ],
)
def test_refusals_name_the_remedy(call, error, said):
    with pytest.raises(error, match=said):
        call()


@pytest.fixture
def equation():
    """Three classes whose paces are 10^4 apart; a source on the faces."""
    rng = np.random.default_rng(3)
    shape, up = (9, 12, 8), np.array([0.3, 30.0, 0.003])
    counts = np.indices(shape)
    down = np.where(counts > 0, rng.uniform(0.8, 1.2, (3, *shape)), 0.0) * (up / 0.5)[:, None, None, None]
    law = np.exp(-0.7 * counts.sum(axis=0))
    return PoissonEquation(up, down, law), counts[:2].astype(float), faces(up, shape)


def test_multigrid_finds_what_elimination_finds(monkeypatch, equation):
    equation, f, source = equation
    monkeypatch.setattr("queueing.enclosures.poisson_equation.STEPS", 1)  # both chains are eliminated
    h, v = equation.solve(f, source, np.full(source.shape, np.inf))
    for name in ("PLANE", "SMALL"):
        monkeypatch.setattr(f"queueing.enclosures.poisson_equation.{name}", 0)
    monkeypatch.setattr("queueing.enclosures.multigrid.COARSEST", 50)
    other_h, other_v = equation.solve(f, source, source)
    # A constant 1 would be kept by both: h is about 10^3 long.
    assert np.abs(h - other_h).max() < 1e-9 * np.abs(h).max()
    assert np.abs(v - other_v).max() < 1e-9 * np.abs(v).max()


def test_one_elimination_solves_both_chains_but_for_a_little_of_the_source(equation):
    equation, f, source = equation
    _, v = equation.solve(f, source, np.full(source.shape, np.inf))
    moves = box_rates(equation.up, equation.down)
    flow = (moves @ v.ravel() - (moves.sum(axis=1) + equation.kill) * v.ravel()).reshape(v.shape) + source
    inside = source == 0
    c = flow[inside].mean()
    # Rounding of rates about 30 times v about 1; c is about 1e-4.
    assert np.abs(flow[inside] - c).max() < 1e-12
    left = (c - flow[~inside]) / source[~inside]
    assert left.min() > -1e-12
    assert left.max() < 2.1 * LEFT
    # With no more room than that it is found as it is.
    _, exact = equation.solve(f, source, v * (1 - LEFT / 2))
    assert (exact < v)[v > 0].all()
    flow = (moves @ exact.ravel() - (moves.sum(axis=1) + equation.kill) * exact.ravel()).reshape(v.shape)
    assert np.ptp(flow + source) < 1e-12


@pytest.mark.long
def test_a_power_that_leaves_v_hardly_room_on_the_faces():
    """V exceeds v by 0.07 % in the corner of the box."""
    pool = Problem([[1.9712109, 0], [0.19712109, 0.19712109]], [1, 1], weights=[1, 2])
    system = System(pool, [8.57836058e-04, 1.13184171e02], [2.52649978e02, 3.15010844e-03])
    assert enclose(system, MaxMin(), width=1e-6).reached < 1e-6


@pytest.mark.long
def test_the_search_for_a_drift_tells_how_far_it_is_and_keeps_to_its_time(monkeypatch):
    monkeypatch.setattr(work, "SHOWN", -np.inf)  # everything is told, however fast the machine
    system, seen = System.with_load(HARD, [1, 1, 1], 0.4), []
    with pytest.raises(NotConvergedError, match="time_limit") as refused:
        enclose(system, BottleneckMax(), width=1e-3, progress=seen.append, time_limit=1e-3)
    assert refused.value.best is None
    enclose(system, BottleneckMax(), width=1e-3, progress=seen.append)
    assert {"search for a norm that falls", "proof of the drift in all directions, at most"} <= {
        one.what for one in seen
    }


@pytest.mark.long
def test_a_stationary_law_carries_its_enclosure(tmp_path):
    system = System.with_load(TWO, [1, 2], 0.4, [1, 3])
    law = stationary(system, DRF(), certified=True, width=1e-6)
    assert stationary(system, DRF()).enclosure is None
    assert holds(law.enclosure.mean_jobs, law.mean_jobs, 1e-8)
    assert 1e-8 < law.enclosure.reached <= 1e-6 == law.enclosure.width
    assert "proved: mean jobs" in law.summary()
    law.save(tmp_path / "law.json.gz")
    again = Result.load(tmp_path / "law.json.gz")
    assert (again.enclosure.check().lower == law.enclosure.certificate.lower).all()
    with pytest.raises(ModelError, match="leave shape out"):
        stationary(system, DRF(), certified=True, shape=9)
    with pytest.raises(ModelError, match="width must be"):
        stationary(system, DRF(), certified=True, width=2.0)
    with pytest.raises(ModelError, match="certified=True"):
        stationary(system, DRF(), width=1e-6)
    with pytest.raises(NotConvergedError, match="max_states=300"):
        stationary(system, DRF(), certified=True, tail=1e-2, max_states=300)
    with pytest.raises(ModelError, match="exponential"):
        stationary(System.with_load(TWO, [1, 2], 0.2, sizes=Erlang(2)), DRF(), tail=1e-2, certified=True)


def test_bounds_that_were_proved_are_kept_when_the_time_is_over(monkeypatch):
    """The second box is never finished."""
    certified, calls = _Search._certified, []

    def once(search, plan):
        if calls:
            raise OutOfTime("time_limit=1 seconds are over")
        calls.append(plan)
        return certified(search, plan)

    monkeypatch.setattr(_Search, "_certified", once)
    with pytest.raises(NotConvergedError, match="are proved, in best") as stopped:
        enclose(System.with_load(TWO, [1, 1], 0.4), DRF(), width=1e-15)
    assert stopped.value.best.reached == stopped.value.residual < 1e-9
    stopped.value.best.check()


def test_bounds_are_rounded_outward():
    assert outward(0.12345601, 0.12345699) == ("0.1234560", "0.1234570")
    low, high = outward(1 / 3, 1 / 3)
    assert float(low) <= 1 / 3 <= float(high)


def system_of(rng, n):
    """A random pool of n classes, sizes over six decades."""
    m = int(rng.integers(1, 4))
    demands = rng.uniform(0.1, 1, (n, m)) * (rng.random((n, m)) < 0.8)
    for row in demands:
        row[rng.integers(m)] += 0.1
    pool = Problem(demands, np.ones(m), weights=rng.uniform(0.5, 2, n))
    load = rng.uniform(0.3, 0.95 if n == 2 else 0.7)
    sizes = 10 ** rng.uniform(-3, 3, n)
    return System.with_load(pool, rng.uniform(0.2, 1, n), load, sizes)


# Max-min, dominant resource, asset, proportional and 2-fairness; loads up to 0.95; one with three classes.
@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "n"), [(0, 2), (2, 2), (3, 2), ([16, 16], 2), ([16, 18], 3), ([16, 19], 2), ([16, 23], 2)]
)
def test_enclosures_hold_the_law_of_a_larger_box(seed, n):
    rng = np.random.default_rng(seed)
    system = system_of(rng, n)
    policies = [DRF(), ProportionalFair(), MaxMin(), AssetFair(), AlphaFair(2.0)] + [BottleneckMax()] * (
        n == 2
    )
    policy = policies[rng.integers(len(policies))]
    found = enclose(system, policy, width=1e-6)
    law = stationary(system, policy, tail=1e-11)
    assert found.reached < 1e-3
    # The law is exact up to its own error, which its solver states.
    assert holds(found.mean_jobs, law.mean_jobs, 1e-8), (system, policy, found, law)


def test_a_certificate_of_another_system_proves_nothing():
    found = enclose(System.with_load(TWO, [1, 1], 0.3), DRF(), width=1e-3)
    found.check()
    rates = found.system.arrival_rates
    for other in (
        System(TWO, rates, [2, 2]),
        System(TWO, 2 * rates),
        System(TWO.replaced(weights=[1, 2]), rates),
    ):
        with pytest.raises(CertificateError, match="one of another system"):
            replace(found, system=other).check()
