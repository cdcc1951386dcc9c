"""Certificates where arrivals have phases: the lemmas by definition, and that what is proved is true."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fairness import DRF, AlphaFair, MaxMin, ModelError, NotConvergedError, Problem, ProportionalFair
from queueing import MAP, Erlang, OnOff, Poisson, Renewal, System, check_certificate, enclose, stationary
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import certified, family, pool_of
from tests.oracles.arrivals import generator_with_arrival_phases, jobs_by_levels

ONE = Problem([[1]], [4])
TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])
BURSTS = MAP.modulated([9.0, 1.0], [[0, 1], [0.25, 0]])
TURNS = MAP([[-2, 0.5], [0.1, -5.1]], [[0, 1.5], [4, 1]])
THREE = MAP([[-3, 1, 0], [0.5, -2, 0.5], [0, 0.1, -1]], [[1, 0, 1], [0, 1, 0], [0.4, 0, 0.5]])
MANY = MAP.modulated(np.arange(9.0), np.ones((9, 9)))
ARRIVALS = [[BURSTS, Poisson()], [TURNS, THREE], OnOff(1, 2)]


def all_of_it(problem, counts):
    """What every policy of one class gives it."""
    return problem.capacities


@pytest.mark.parametrize("process", [BURSTS, TURNS, THREE, OnOff(2, 5), Poisson()])
def test_potentials_by_definition(process):
    rate = 0.7
    found = ArrivalPhases.of(System(ONE, [rate], arrivals=process))
    ahead = [one for (one,) in found.ahead]
    assert min(ahead) == 0
    rises, second = [Fraction(0)] * found.n_phases, [2 * k * Fraction(rate) for k in ahead]
    for move in found.moves:
        step = move.arrives + ahead[move.target] - ahead[move.phase]
        rises[move.phase] += move.rate * step
        second[move.phase] += move.rate * step**2
    assert rises == [Fraction(rate)] * found.n_phases
    assert found.second == (max(second),)
    if isinstance(process, MAP):  # the rates are those of the process
        for arrives, matrix in enumerate(process.modulation(rate)):
            listed = np.diag(np.diagonal(matrix)) if not arrives else np.zeros(matrix.shape)
            for move in found.moves:
                if move.arrives == arrives:
                    listed[move.phase, move.target] += float(move.rate)
            assert listed == pytest.approx(matrix, rel=1e-14)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("arrivals", ARRIVALS)
def test_v_falls_as_fast_as_is_proved(alpha, arrivals):
    system = System.with_load(TWO, [1, 2], 0.4, arrivals=arrivals)
    policy = AlphaFair(alpha)
    name, parameters = certified(policy)
    scales, shape = (0.4 / system.loads) ** (alpha / (alpha + 1)), (90, 70)
    drift, pool = Drift(alpha + 1, scales, 0.0, 1.0), pool_of(system, name)
    gamma = family(name).decay(pool, name, parameters, drift, shape)
    assert gamma > 0
    ahead = np.array(pool.phases.ahead, dtype=float)
    least = float((scales * shape).min())
    rng = np.random.default_rng(1)
    counts = (rng.random((2000, 2)) ** 2 * np.array(shape) * rng.uniform(0, 4, (2000, 1))).astype(int)
    counts = np.vstack([counts, [[90, 0], [0, 70], [90, 70], [90, 1], [1, 70], [91, 30]]])
    counts = counts[(counts >= shape).any(axis=1)]
    tasks = policy(TWO, counts) / system.mean_sizes

    def v(x, phase):
        return ((scales * (x + ahead[phase]) / least) ** (alpha + 1)).sum(axis=-1)

    u = np.maximum(1, (counts / np.array(shape)).max(axis=1)) ** alpha
    for phase in range(len(ahead)):
        flow = np.zeros(len(counts))
        for move in pool.phases.moves:
            if move.phase == phase:
                more = move.arrives * np.eye(2)[move.place]
                flow += float(move.rate) * (v(counts + more, move.target) - v(counts, phase))
        for i in range(2):
            fewer = np.maximum(counts - np.eye(2)[i], 0)
            flow += tasks[:, i] * (v(fewer, phase) - v(counts, phase))
        # Sums of a dozen terms of the size of V.
        assert (flow <= -gamma * u + 1e-12 * v(counts, phase)).all()


@pytest.mark.parametrize("arrivals", [BURSTS, TURNS, THREE, OnOff(1, 4)])
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_one_queue(arrivals, load):
    system = System(ONE, [4 * load], arrivals=arrivals)
    found = enclose(system, ProportionalFair())
    lower, upper = found.mean_jobs
    mean = jobs_by_levels(system)
    assert found.reached <= 1e-8
    # The iteration for R, which has no intervals, is right to some 1e-13.
    assert lower[0] - 1e-11 * mean <= mean <= upper[0] + 1e-11 * mean


@pytest.mark.parametrize(
    "policy", [ProportionalFair(), DRF(), pytest.param(AlphaFair(2), marks=pytest.mark.long)]
)
@pytest.mark.parametrize("arrivals", ARRIVALS)
def test_two_classes(policy, arrivals):
    system = System.with_load(TWO, [1, 1], 0.3, arrivals=arrivals)
    found, law = enclose(system, policy, width=1e-5), stationary(system, policy)
    lower, upper = found.mean_jobs
    assert found.reached <= 1e-5
    assert (lower - law.mean_jobs_error <= law.mean_jobs).all()
    assert (law.mean_jobs <= upper + law.mean_jobs_error).all()
    assert found.check().upper == pytest.approx(found.certificate.upper, rel=1e-13)


def test_stationary_proves_on_request():
    law = stationary(System(ONE, [1.0], arrivals=TURNS), ProportionalFair(), certified=True, width=1e-6)
    lower, upper = law.enclosure.mean_jobs
    assert lower[0] - law.mean_jobs_error[0] <= law.mean_jobs[0] <= upper[0] + law.mean_jobs_error[0]


@pytest.mark.parametrize("load", [0.85, 0.9])
def test_where_no_box_is_large_enough(load):
    system = System.with_load(TWO, [1, 1], load, arrivals=[BURSTS, Poisson()])
    with pytest.raises(NotConvergedError, match=r"in each phase.*use stationary"):
        enclose(system, ProportionalFair(), width=1e-6, max_states=20_000)


def test_fractions_prove_the_same():
    system = System.with_load(TWO, [1, 1], 0.3, arrivals=[TURNS, OnOff(1, 0.5)])
    certificate = enclose(system, MaxMin(), width=1e-2).certificate
    exact, fast = check_certificate(certificate, exact=True), check_certificate(certificate)
    assert (fast.lower <= exact.lower).all()
    assert (exact.upper <= fast.upper).all()
    assert fast.lower == pytest.approx(exact.lower, rel=1e-12)
    assert fast.upper == pytest.approx(exact.upper, rel=1e-12)


@pytest.mark.parametrize("ending", ["json", "nc"])
def test_files_hold_them(tmp_path, ending):
    system = System.with_load(TWO, [1, 1], 0.2, arrivals=[TURNS, OnOff(1, 0.5)])
    found = enclose(system, ProportionalFair(), width=1e-2)
    found.save(tmp_path / f"found.{ending}")
    again = type(found).load(tmp_path / f"found.{ending}")
    assert (again.check().upper == found.certificate.upper).all()
    assert (again.certificate.h == found.certificate.h).all()


def small(rng, arrivals, load):
    """A certificate on a small box, from dense linear algebra, and spoiled."""
    system = System(ONE, [4 * load], arrivals=arrivals)
    side = int(rng.integers(8, 50))
    states, matrix = generator_with_arrival_phases(system, all_of_it, (side,))
    counts, phases = np.array(states).T
    scales, pool = np.ones(1), pool_of(system, "PF")
    drift = Drift(2.0, scales, 0.0, 1.0)
    gamma = family("PF").decay(pool, "PF", {}, drift, (side,))
    if not gamma > 0:
        return None
    ahead = np.array(pool.phases.ahead, dtype=float)[:, 0]
    arriving = system.processes[0].modulation(4 * load).arriving
    if len(arriving) != len(ahead):
        return None
    killed, flow, last = matrix.copy(), np.zeros(len(states)), counts == side - 1
    for k in np.flatnonzero(last):
        for b, rate in enumerate(arriving[phases[k]]):
            if b != phases[k]:
                killed[k, np.flatnonzero(last & (phases == b))[0]] -= rate
            else:
                killed[k, k] -= rate
            flow[k] += rate * ((side + ahead[b]) / side) ** 2

    def solved(left, right):
        bordered = np.block([[left, np.ones((len(left), 1))], [np.eye(len(left))[:1], 0.0]])
        return np.linalg.solve(bordered, np.append(right, 0.0))[:-1]

    noise = rng.choice([0.0, 1e-6, 1e-2])
    h = solved(matrix, -counts.astype(float)) * (1 + noise * rng.normal(size=len(states)))
    v = solved(killed, -flow) * rng.choice([1.0, 0.5, 0.0])
    most = ((counts + ahead[phases]) / side) ** 2 * (1 - 1e-12)
    v[last] = np.minimum(v[last], most[last])
    shape, endless = (side, len(ahead)), np.full(1, np.inf)
    delta = np.array([side * rng.choice([1.0, 2.0, 10.0, 100.0]) / gamma])
    return Certificate(
        *(system, "PF", {}, (side,), Drift(2.0, scales, 0.0, float(gamma)), (Functional("jobs", 0),)),
        *(h.reshape(1, *shape), v.reshape(shape), delta, -endless, endless),
    )


def test_what_is_accepted_is_true():
    rng = np.random.default_rng(5)
    accepted = tight = 0
    cases = [(arrivals, load) for arrivals in (BURSTS, TURNS, THREE) for load in (0.2, 0.4, 0.6)]
    means = [jobs_by_levels(System(ONE, [4 * load], arrivals=arrivals)) for arrivals, load in cases]
    for _ in range(80):
        case = rng.integers(len(cases))
        mean, certificate = means[case], small(rng, *cases[case])
        if certificate is None:
            continue
        try:
            lower, upper = check_certificate(certificate)
        except CertificateError:
            continue
        assert lower[0] - 1e-11 * mean <= mean <= upper[0] + 1e-11 * mean
        accepted += 1
        tight += upper[0] - lower[0] < 0.1 * mean
    assert accepted > 40
    assert tight > 5


@pytest.mark.parametrize("arrivals", [BURSTS, TURNS, THREE])
def test_bounds_are_those_of_the_conditions(arrivals):
    # v = 0: all conditions by definition, for one class and for V = ((x + kappa)/s)^2. h is at random, or a
    # function of the phase alone: then it is what h turns with the phase, up or down, that counts outside.
    system, side = System(ONE, [1.0], arrivals=arrivals), 40
    states, matrix = generator_with_arrival_phases(system, all_of_it, (side,))
    counts, phases = np.array(states).T
    pool, drift = pool_of(system, "PF"), Drift(2.0, np.ones(1), 0.0, 1.0)
    drift = replace(drift, gamma=float(family("PF").decay(pool, "PF", {}, drift, (side,))))
    ahead = np.array(pool.phases.ahead, dtype=float)[:, 0]
    arriving = system.processes[0].modulation(1.0).arriving
    moving = sum(m - np.diag(np.diagonal(m)) for m in system.processes[0].modulation(1.0))
    m, last = len(ahead), counts == side - 1
    escape = np.where(last, (arriving @ ((side + ahead) / side) ** 2)[phases], 0.0)
    for h in (np.random.default_rng(3).normal(size=len(states)), 1e6 * phases, -1e6 * phases):
        ends = h[last]
        turn = (moving * np.abs(ends[None, :] - ends[:, None])).sum(axis=1).max()
        delta = side * (1 + 1e-9) / drift.gamma
        shape, endless = (side, m), np.full(1, np.inf)
        certificate = Certificate(
            *(system, "PF", {}, (side,), drift, (Functional("jobs", 0),)),
            *(h.reshape(1, *shape), np.zeros(shape), np.array([delta]), -endless, endless),
        )
        lower, upper = check_certificate(certificate)
        flow = counts + matrix @ h
        beyond = side - delta * drift.gamma
        assert upper[0] == pytest.approx(max((flow + delta * escape).max(), turn + beyond), rel=1e-9)
        assert lower[0] == pytest.approx(min((flow - delta * escape).min(), side - turn), rel=1e-9)


def test_steps_outside_are_those_of_the_busiest_phase():
    # h is 1e6 times the jobs of class 1: outside it moves at most with the most arrivals and departures.
    system = System.with_load(TWO, [1, 2], 0.4, arrivals=[BURSTS, THREE])
    shape, pool = (90, 70), pool_of(system, "PF")
    drift = Drift(2.0, np.sqrt(0.4 / system.loads), 0.0, 1.0)
    drift = replace(drift, gamma=float(family("PF").decay(pool, "PF", {}, drift, shape)))
    states, endless = (*shape, pool.phases.n_phases), np.full(1, np.inf)
    h = np.zeros((1, *states)) + 1e6 * np.arange(90.0)[:, None, None]
    certificate = Certificate(
        *(system, "PF", {}, shape, drift, (Functional("jobs", 0),)),
        *(h, np.zeros(states), np.array([90 * (1 + 1e-9) / drift.gamma]), -endless, endless),
    )
    busiest = system.processes[0].modulation(float(system.arrival_rates[0])).arriving.sum(axis=1).max()
    assert check_certificate(certificate).upper[0] == pytest.approx(1e6 * (busiest + 1.0), rel=1e-9)


def test_fall_of_one_class_by_the_formula():
    system, side = System(ONE, [1.0], arrivals=BURSTS), 90
    pool, drift = pool_of(system, "alpha-fair"), Drift(3.0, np.ones(1), 0.0, 1.0)
    gamma = family("alpha-fair").decay(pool, "alpha-fair", {"alpha": 2.0}, drift, (side,))
    second = 9 / 2.6 * 1 + 1 / 2.6 * 6.4**2 + 2 * 6.4  # of the busy phase, rates divided by 2.6
    fall = 3 * side**2 - (second * (side + 1 + 7) + 4 * side)  # the spare is 3: four times the load fit
    assert gamma == pytest.approx(3 / side**3 * fall, rel=1e-9)


def test_what_proves_nothing_is_refused():
    system = System(ONE, [2.0], arrivals=BURSTS)
    certificate = enclose(system, ProportionalFair(), width=1e-3).certificate
    shifted = np.ascontiguousarray(certificate.v[..., ::-1]) + 1.0
    ahead = certificate.v.copy()
    ahead[-1, 1] = 1.0  # below V of the busy phase there, above that of the other
    for wrong, condition in (
        (replace(certificate, v=np.ascontiguousarray(certificate.v[..., 0])), "data"),
        (replace(certificate, drift=replace(certificate.drift, theta=0.1)), "drift"),
        (
            replace(certificate, drift=replace(certificate.drift, gamma=certificate.drift.gamma * 1.01)),
            "drift",
        ),
        (replace(certificate, v=shifted), "face"),
        (replace(certificate, v=ahead), "face"),
        (replace(certificate, h=np.ascontiguousarray(certificate.h[..., ::-1])), "inside"),
        (replace(certificate, system=System(ONE, [2.0], arrivals=OnOff(1, 1))), "inside"),
        (replace(certificate, system=System(ONE, [2.0], arrivals=Renewal(Erlang(2)))), "data"),
    ):
        with pytest.raises(CertificateError) as caught:
            check_certificate(wrong)
        assert caught.value.condition == condition


def test_a_certificate_of_other_arrivals_is_no_proof():
    plain, bursty = System(ONE, [2.0]), System(ONE, [2.0], arrivals=BURSTS)
    found = enclose(plain, ProportionalFair(), width=1e-3)
    with pytest.raises(CertificateError, match="another system"):
        replace(found, system=bursty).check()


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (System.with_load(TWO, [1, 1], 0.3, arrivals=[Poisson(), Renewal(Erlang(2))]), "of class 'class 2'"),
        (
            System(Problem([[1], [1], [1]], [9]), [1, 1, 1], arrivals=TURNS),
            "1 to 2 where arrivals have phases",
        ),
        (System(TWO, [0.1, 0.1], arrivals=MANY), "have 81 phases together, above 64"),
    ],
)
def test_arrivals_that_are_refused(system, said):
    with pytest.raises(ModelError, match=said) as caught:
        enclose(system, ProportionalFair())
    assert caught.value.argument in ("arrivals", "system")
