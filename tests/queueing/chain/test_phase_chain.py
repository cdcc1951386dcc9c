from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import psutil
import pytest

from fairness import DRF, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import simulate
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.phases.states import class_states, count_phase_states
from queueing.chain.solvers.choose_solver import Automatic, Elimination, Multilevel, Product
from queueing.chain.stationary import stationary
from queueing.model.laws import Deterministic, Erlang, Exponential, Hyperexponential, Law, TruncatedPareto
from queueing.model.phase_type import PhaseType, coxian, fit_phases, phases_of
from queueing.model.system import System
from queueing.states.table import tabulate
from tests.own_policies import priority, sharing
from tests.queueing.chain.chains import EXAMPLE, SOLVERS, Balanced, random_system, rate_matrix, stepped

CYCLE = PhaseType([0.3, 0.7, 0.0], [[-2, 1, 0.5], [0, -1, 0.2], [1.5, 0, -1.5]])


def phased(system, laws):
    """The system with sizes of these shapes, of the same means."""
    shapes = [laws] * system.n_classes if isinstance(laws, Law) else laws
    sizes = [law.with_mean(m) for law, m in zip(shapes, system.mean_sizes, strict=True)]
    return replace(system, sizes=sizes)


def from_definition(system, policy, laws, shape):
    """Law of the counts on a box, from the rate matrix written down state by state."""
    phased = [phases_of(law).with_mean(m) for law, m in zip(laws, system.mean_sizes, strict=True)]
    local = [
        [s for s in itertools.product(range(k), repeat=law.n_phases) if sum(s) < k]
        for k, law in zip(shape, phased, strict=True)
    ]
    states = list(itertools.product(*local))
    tasks = tabulate(system.problem, policy, shape).tasks

    def moves(s):
        x = tuple(map(sum, s))
        for i, law in enumerate(phased):
            ends = -law.rates.sum(axis=1)
            for k in range(law.n_phases):
                more, less = stepped(s[i], k, 1), stepped(s[i], k, -1)
                yield (*s[:i], more, *s[i + 1 :]), system.arrival_rates[i] * law.initial[k]
                if s[i][k]:
                    pace = tasks[x][i] * s[i][k] / x[i]
                    yield (*s[:i], less, *s[i + 1 :]), pace * max(ends[k], 0.0)
                    for j in set(range(law.n_phases)) - {k}:
                        yield (*s[:i], stepped(less, j, 1), *s[i + 1 :]), pace * law.rates[k, j]

    rates = rate_matrix(states, moves)
    rates -= np.diag(rates.sum(axis=1))
    equations = np.vstack([rates.T, np.ones(len(states))])
    law = np.linalg.lstsq(equations, np.eye(len(states) + 1)[-1], rcond=None)[0]
    counts = np.zeros(shape)
    for s, p in zip(states, law, strict=True):
        counts[tuple(map(sum, s))] += p
    return counts


@pytest.mark.long
@pytest.mark.parametrize("solver", SOLVERS)
def test_random_systems_agree_with_the_definition(solver):
    rng = np.random.default_rng(11)
    cases = [
        ((7,), [CYCLE]),
        ((5, 6), [Erlang(2), Hyperexponential.fit(9.0)]),
        ((6, 4), [Exponential(), CYCLE]),
        ((4, 5), [coxian(1, 0.3), Exponential()]),
        ((3, 4, 3), [Erlang(2), Exponential(), coxian(1, 20)]),
        ((2, 3, 2, 3), [Exponential(), Hyperexponential.fit(3.0), Erlang(3), Exponential()]),
    ]
    for k, (shape, laws) in enumerate(cases):
        n = len(shape)
        system = random_system(rng, k, n, spread=0.7)
        policy = (DRF(), ProportionalFair(), MaxMin())[k % 3]
        law = stationary(phased(system, laws), policy, shape=shape, solver=solver)
        assert law.method == f"phases ({type(solver).__name__.lower()})"
        assert law.residual < 1e-11  # flows change by the tolerance in one sweep
        # The tolerance 1e-11 of the means, and the rounding of a dense least-squares solution.
        assert np.abs(law.distribution - from_definition(system, policy, laws, shape)).sum() < 1e-10


@pytest.mark.parametrize("solver", SOLVERS)
def test_exponential_sizes_in_any_disguise_give_the_chain_of_counts(solver):
    system = System.with_load(EXAMPLE, [2, 1], 0.6, [0.5, 3.0])
    plain = stationary(system, DRF(), shape=(14, 12))
    disguised = Hyperexponential([0.3, 0.7], [2.0, 2.0])
    for laws in (Exponential(9.0), [disguised, Exponential()], [Exponential(), coxian(5, 1)]):
        law = stationary(phased(system, laws), DRF(), shape=(14, 12), solver=solver)
        # Ten times the tolerance.
        assert np.abs(law.distribution - plain.distribution).sum() < 1e-10
        assert law.mean_jobs == pytest.approx(plain.mean_jobs, rel=1e-10)
        assert law.covariance == pytest.approx(plain.covariance, rel=1e-9)


@pytest.mark.parametrize(
    "sizes", [Erlang(3), Hyperexponential.fit(10.0), CYCLE], ids=lambda s: type(s).__name__
)
def test_one_resource_shared_equally_is_insensitive(sizes):
    one = System(Problem([[1]], [1]), [0.35], [2.0])
    law = stationary(phased(one, sizes), sharing, tail=1e-12)
    assert law.marginal(0) == pytest.approx(0.3 * 0.7 ** np.arange(law.shape[0]), rel=1e-9)
    two = System(Problem([[1], [1]], [1]), [0.2, 0.3], [2.0, 0.5])
    for laws in ([sizes, Exponential()], [Exponential(), sizes]):
        law = stationary(phased(two, laws), sharing, shape=(14, 14))
        plain = balanced_fairness(two, shape=(14, 14), distribution=True).distribution
        # Ten times the tolerance; losing arrivals keeps the law, conditioned on the box.
        assert np.abs(law.distribution - plain).sum() < 1e-10


@pytest.mark.parametrize(("phases", "size"), [(70, 2), (33, 4)])
def test_many_phases_and_few_jobs(phases, size):
    # Numbers of states such as size ** phases leave the range of integers.
    law = phases_of(Erlang(phases))
    states = class_states(law, size)
    moves = states.serve.tocoo()
    finished = states.total[moves.coords[0]] - states.total[moves.coords[1]]
    assert np.bincount(moves.coords[0][finished == 1], minlength=len(states.total)).max() == 1
    assert set(finished) == {0, 1}
    # Every state but the fullest is left by one arrival, to a state of its own with one job more.
    arrivals = states.arrive.tocoo()
    assert (np.diff(states.total[np.stack(arrivals.coords)], axis=0) == 1).all()
    assert len(set(arrivals.coords[1])) == len(arrivals.coords[1]) == (states.total < size - 1).sum()
    if size == 2:
        loss = stationary(phased(System(Problem([[1]], [9], limits=[1]), [2.0], [1.5]), law), DRF(), shape=2)
        assert loss.marginal(0) == pytest.approx([0.25, 0.75], rel=1e-10)


def test_limited_jobs_on_many_machines_are_insensitive():
    # M/G/infinity truncated to 8 jobs: Erlang's loss formula.
    system = System(Problem([[1]], [100], limits=[1]), [2.0], [1.5])
    law = stationary(phased(system, fit_phases(1, 0.4)), DRF(), shape=9)
    erlang = 3.0 ** np.arange(9) / np.cumprod([1, *range(1, 9)])
    assert law.marginal(0) == pytest.approx(erlang / erlang.sum(), rel=1e-9)


@pytest.mark.parametrize("laws", [Erlang(2), [Hyperexponential.fit(20.0), Exponential()]])
def test_balanced_fairness_is_insensitive(laws):
    system = System.with_load(EXAMPLE, [3, 1], 0.7, [1.0, 4.0])
    balanced = Balanced(system, (12, 12))
    law = stationary(phased(system, laws), balanced, shape=(12, 12), solver=Multilevel())
    # rel: a hundred times the tolerance, for single probabilities.
    assert law.distribution == pytest.approx(balanced.law.distribution, rel=1e-9)


@pytest.mark.long
def test_dominant_resource_fairness_is_sensitive_as_in_simulation():
    system = System.with_load(EXAMPLE, [1, 1], 0.8)
    plain = stationary(system, DRF(), tail=1e-6).mean_durations
    laws = [Hyperexponential.fit(12.0), Exponential()]
    law = stationary(phased(system, laws), DRF(), tail=1e-3, solver=Automatic(1e-8))
    assert plain[0] - law.mean_durations[0] > 0.04
    result = simulate(phased(system, laws), DRF(), jobs=100_000, replications=8, rng=3)
    # Five half-widths of 95 %, and what the box cuts off.
    slack = 5 * result.half_widths["mean_durations"] + law.mean_jobs_error / system.arrival_rates
    assert (np.abs(result.mean_durations - law.mean_durations) < slack).all()


def test_both_methods_agree_where_policies_starve_a_class():
    system = System(Problem([[1], [1]], [1]), [0.3, 0.2], [1.0, 2.0])
    laws = [Erlang(2), Hyperexponential.fit(5.0)]
    one, other = (stationary(phased(system, laws), priority, shape=(7, 9), solver=s) for s in SOLVERS)
    assert np.abs(one.distribution - other.distribution).sum() < 1e-10  # ten times the tolerance
    # The first class does not see the second: M/PH/1 with equal sharing, insensitive.
    assert one.marginal(0) == pytest.approx(0.3 ** np.arange(7) * 0.7 / (1 - 0.3**7), rel=1e-10)


@pytest.mark.long
def test_box_grows_and_goes_on_from_the_smaller_one():
    # The second class waits while long jobs of the first are served: exponential sizes need a smaller box.
    system = System(Problem([[1], [1]], [1]), [0.3, 0.3])
    laws = [Hyperexponential.fit(8.0), Exponential()]
    law = stationary(phased(system, laws), priority, tail=1e-5)
    first = stationary(system, priority, tail=1e-5).shape
    assert law.tail_mass <= 1e-5
    assert law.shape[0] == first[0]
    assert law.shape[1] > first[1]
    again = stationary(phased(system, laws), priority, shape=law.shape)
    assert np.abs(law.distribution - again.distribution).sum() < 1e-9  # a hundred times the tolerance
    assert stationary(phased(system, laws), priority, shape=4, distribution=False).distribution is None


@pytest.mark.long
def test_error_of_the_means_covers_what_a_larger_box_shows():
    system = System.with_load(EXAMPLE, [1, 2], 0.6)
    for laws in ([Erlang(3), Exponential()], [Hyperexponential.fit(6.0), Exponential()]):
        small = stationary(phased(system, laws), DRF(), shape=12)
        large = stationary(phased(system, laws), DRF(), shape=32)
        gap = np.abs(small.mean_jobs - large.mean_jobs)
        assert (gap < small.mean_jobs_error).all()
        assert (small.mean_jobs_error < 20 * gap).all()  # and is no idle promise


def test_classes_without_arrivals_have_no_states():
    system = System(EXAMPLE, [0.5, 0.0])
    law = stationary(phased(system, [Erlang(2), Erlang(5)]), DRF(), shape=20)
    assert law.shape == (20, 1)
    assert law.mean_jobs == pytest.approx(stationary(system, DRF(), shape=20).mean_jobs, rel=1e-10)
    assert stationary(phased(System(EXAMPLE, [0, 0]), Erlang(2)), DRF()).mean_jobs.tolist() == [0, 0]


def test_states_are_counted_and_listed_by_total():
    law = phases_of(Erlang(3))
    small, large = class_states(law, 4), class_states(law, 7)
    assert len(small.total) == count_phase_states([4], [3]) == 20
    assert (np.diff(large.total) >= 0).all()
    # What a box grows from: the first states of the larger list are those of the smaller.
    inner = large.serve[:20, :20] - small.serve
    assert abs(inner).max() == 0
    assert np.bincount(small.total, small.mixing) == pytest.approx(np.ones(4), rel=1e-14)


def test_bad_arguments_are_refused():
    system = System.with_load(EXAMPLE, [1, 1], 0.5)
    for sizes, message in (
        (TruncatedPareto(1.5, 1e3), "fit_phases"),
        ([Erlang(2), Deterministic()], "simulate"),
    ):
        with pytest.raises(ModelError, match=message):
            stationary(phased(system, sizes), DRF(), shape=5)
    with pytest.raises(ModelError, match=r"Product\(\) is for one class with exponential sizes"):
        stationary(System(Problem([[1]], [1]), [0.5], sizes=Erlang(2)), DRF(), solver=Product())
    with pytest.raises(UnstableError):
        stationary(phased(System.with_load(EXAMPLE, [1, 1], 1.1), Erlang(2)), DRF())
    with pytest.raises(ModelError, match="serves nobody"):
        stationary(phased(system, Erlang(2)), lambda problem, counts: 0 * counts, shape=4)


def test_memory_is_refused_before_it_is_taken():
    system = System.with_load(EXAMPLE, [1, 1], 0.5)
    before = psutil.Process().memory_info().rss
    for solver in SOLVERS:
        with pytest.raises(ModelError, match="GiB"):
            stationary(phased(system, Erlang(6)), DRF(), shape=120, solver=solver)
    assert psutil.Process().memory_info().rss - before < 2**28


def test_what_is_not_reached_is_said():
    system = System.with_load(EXAMPLE, [1, 1], 0.7)
    with pytest.raises(NotConvergedError, match="max_cycles") as caught:
        stationary(phased(system, Erlang(2)), DRF(), shape=12, solver=Multilevel(max_cycles=2))
    assert caught.value.best.residual > 1e-12
    with pytest.raises(NotConvergedError, match="max_states") as caught:
        stationary(phased(system, Erlang(2)), DRF(), max_states=100)
    assert caught.value.best is None


def test_sizes_on_different_scales_do_not_hide_the_error():
    system = System.with_load(EXAMPLE, [1, 1], 0.8, [1, 1000])
    system = phased(system, Hyperexponential.fit(4.0))
    exact = stationary(system, DRF(), solver=Elimination(), shape=6).mean_jobs
    with pytest.raises(NotConvergedError) as caught:
        stationary(system, DRF(), solver=Multilevel(max_cycles=150), shape=6)
    law = caught.value.best
    assert np.max(np.abs(law.mean_jobs / exact - 1)) < law.mean_error


@pytest.mark.parametrize("scv", [4.0, 30.0])
def test_slow_sizes_do_not_look_solved_too_early(scv):
    # By the change of the means alone the answer would be off by 40 to 80 times its stated error here.
    system = System.with_load(EXAMPLE, [1, 1], 0.8, [1, 100])
    system = phased(system, Hyperexponential.fit(scv))
    exact = stationary(system, DRF(), solver=Elimination(), shape=6).mean_jobs
    law = stationary(system, DRF(), solver=Multilevel(1e-4), shape=6)
    assert np.max(np.abs(law.mean_jobs / exact - 1)) < law.mean_error < 1e-4
