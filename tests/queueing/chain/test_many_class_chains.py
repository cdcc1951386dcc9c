"""Chains of five classes and more on lower sets: closed forms, dense solutions, boxes and simulation."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from fairness import DRF, Cluster, ModelError, NotConvergedError, Problem, ProportionalFair, UnstableError
from fairness.machine.work import OutOfTime, watching
from fairness.policies.servers.psdsf import PSDSF
from queueing import System, balanced_fairness, simulate, stationary
from queueing.chain.boxes import CountBoxes
from queueing.chain.lower_sets import count_sets, set_chain
from queueing.chain.lower_sets.count_sets import CountSets
from queueing.chain.lower_sets.faces import Bound, Faces
from queueing.chain.lower_sets.set_chain import SetChain
from queueing.chain.solvers.choose_solver import Automatic, Elimination, Multilevel, check_solver, solved
from queueing.chain.truncation import truncation_error
from queueing.networks.topology import linear_network
from queueing.states.lower_set import LowerSet
from queueing.states.table import tabulate
from tests.own_policies import sharing, short_first


def shared(n, mix=None, load=0.6):
    """One resource for n classes."""
    return System.with_load(Problem(np.ones((n, 1)), [1]), np.ones(n) if mix is None else mix, load)


def drawn(seed, n, m, load):
    """Random demands, and mean sizes over two decades."""
    rng = np.random.default_rng(seed)
    problem = Problem(rng.random((n, m)), np.ones(m))
    return System.with_load(problem, rng.uniform(0.5, 2, n), load, mean_sizes=10 ** rng.uniform(-1, 1, n))


@pytest.mark.long
def test_processor_sharing_with_five_classes():
    system = shared(5, [1, 2, 3, 4, 5])
    law = stationary(system, sharing, tail=1e-5)
    assert law.method == "lower set (multilevel)"
    assert law.tail_mass <= 1e-5
    means = system.loads / 0.4
    assert (np.abs(law.mean_jobs - means) <= law.mean_jobs_error).all()
    assert law.mean_jobs_error.max() < 1e-3
    # The law conditioned on the set: processor sharing is reversible, and stays so without some arrivals.
    total = law.states.sum(axis=1)
    log = [math.lgamma(k + 1) for k in range(total.max() + 1)]
    terms = np.exp(np.take(log, total) - np.take(log, law.states).sum(1) + law.states @ np.log(system.loads))
    assert law.distribution == pytest.approx(terms / terms.sum(), rel=1e-9)
    # Totals are geometric, and the classes of the jobs multinomial.
    exact = np.diag(means) + np.outer(means, means)
    assert law.covariance == pytest.approx(exact, rel=1e-2)
    ratio = means[4] / (1 + means[4])
    assert law.marginal(4)[:5] == pytest.approx((1 - ratio) * ratio ** np.arange(5), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_small_sets_against_a_dense_solution(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    faces = rng.uniform(0.1, 0.6, (int(rng.integers(1, 4)), n)) * (rng.random((1, n)) ** 0.3)
    states = LowerSet.within(faces)
    up, down = rng.uniform(0.1, 1, n), rng.uniform(0.1, 3, (n, states.n_states)) * (states.counts().T > 0)
    chain = SetChain(states, up, down, Bound(np.eye(n) / 2, np.ones(n), np.zeros(n)), name="x", remedy="y")
    # The generator from the definition: each state asks where its neighbours are.
    generator = np.zeros((states.n_states,) * 2)
    counts = states.counts().tolist()
    place = {tuple(x): k for k, x in enumerate(counts)}
    for x, k in place.items():
        for i in range(n):
            more = place.get((*x[:i], x[i] + 1, *x[i + 1 :]))
            if more is not None:
                generator[k, more], generator[more, k] = up[i], down[i, more]
    generator -= np.diag(generator.sum(axis=1))
    exact = np.linalg.lstsq(
        np.vstack([generator.T, np.ones(len(generator))]), np.eye(len(generator) + 1)[-1]
    )[0]
    for solver in (Elimination(), Multilevel(), Automatic()):
        solution = solved(chain, solver)
        assert not solution.complaint
        assert solution.law == pytest.approx(exact, rel=1e-8, abs=1e-12)
        assert solution.residual < 1e-11
    off = exact * rng.uniform(0.9, 1.1, len(exact))
    flow = exact @ -np.diag(generator)
    assert chain.residual(off) == pytest.approx(np.abs(off @ generator).sum() / (off @ -np.diag(generator)))
    assert flow > 0


@pytest.mark.parametrize(("seed", "n"), [(0, 2), (1, 3), (2, 3), (3, 4)])
@pytest.mark.long
def test_sets_agree_with_boxes(seed, n):
    system = drawn(seed, n, 2, 0.5)
    box = stationary(system, DRF(), tail=1e-8)
    some = CountSets(system, DRF(), Automatic()).grown(1e-6, 1e7)
    assert (np.abs(some.mean_jobs - box.mean_jobs) <= some.mean_jobs_error + box.mean_jobs_error).all()
    assert some.mean_jobs_error.max() < 1e-3 * some.mean_jobs.max()
    assert some.covariance == pytest.approx(box.covariance, rel=1e-3, abs=1e-3 * box.covariance.max())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_the_tail_is_left_out_and_the_error_is_claimed(seed):
    system = drawn(seed, 5, 3, 0.4)
    large = stationary(system, DRF(), tail=1e-5)
    for tail in (1e-2, 1e-3):
        boxes = CountSets(system, DRF(), Automatic())
        law = boxes.grown(tail, 1e7)
        inside = boxes._known[0].places(large.states[:, boxes.axes]) >= 0
        outside = large.distribution[~inside].sum()
        assert law.tail_mass <= tail
        assert outside <= law.tail_mass
        # A sum over faces that overlap, but no wild one.
        assert law.tail_mass < 100 * outside
        gap = np.abs(law.mean_jobs - large.mean_jobs)
        assert (gap <= law.mean_jobs_error + large.mean_jobs_error).all()
        assert (law.mean_jobs_error < 10 * gap).all()


@pytest.mark.long
def test_a_line_of_four_links_under_proportional_fairness():
    """PF is balanced fairness on a line of equal links, which is known in closed form."""
    system = System.with_load(linear_network(4), mix=[1, 2, 2, 2, 2], load=0.4)
    law = stationary(system, ProportionalFair(), tail=1e-4)
    exact = balanced_fairness(system)
    assert (np.abs(law.mean_jobs - exact.mean_jobs) <= law.mean_jobs_error).all()
    assert (law.mean_jobs_error < 0.01 * exact.mean_jobs).all()


@pytest.mark.long
def test_agreement_with_simulation():
    # 1 - 1e-4 for each of 5 intervals: a false alarm in about 2,000 seeds.
    system = drawn(1, 5, 3, 0.6)
    law = stationary(system, DRF(), tail=1e-4)
    runs = simulate(system, DRF(), events=200_000, rng=1, confidence=1 - 1e-4)
    assert (
        np.abs(law.mean_jobs - runs.mean_jobs) <= runs.half_widths["mean_jobs"] + law.mean_jobs_error
    ).all()
    assert (runs.half_widths["mean_jobs"] < 0.12 * law.mean_jobs).all()


def test_classes_of_any_pace():
    """Independent classes whose jobs come and go at paces four decades apart."""
    loads, pace = np.array([0.3, 0.2, 0.4, 0.1, 0.3]), 10.0 ** np.array([0, 2, -2, 1, -1])
    system = System(Problem(np.eye(5), np.ones(5)), loads * pace, 1 / pace)
    law = stationary(system, DRF(), tail=1e-4)
    assert (np.abs(law.mean_jobs - loads / (1 - loads)) <= law.mean_jobs_error).all()
    assert law.mean_jobs == pytest.approx(loads / (1 - loads), rel=2e-3)
    assert law.covariance - np.diag(law.variances) == pytest.approx(0, abs=1e-2)


@pytest.mark.long
def test_nine_classes_and_more():
    """Of independent classes that are seldom there; the fluid is followed on ever fewer points per class."""
    loads = np.arange(1, 10) / 90
    law = stationary(System(Problem(np.eye(9), np.ones(9)), loads), DRF(), tail=1e-3)
    gap = np.abs(law.mean_jobs - loads / (1 - loads))
    assert (gap <= law.mean_jobs_error).all()
    assert (law.mean_jobs_error < 10 * gap).all()
    # Beyond 12 classes no grid is small enough, and sets are not even counted.
    with pytest.raises(ModelError, match="14 classes have arrivals; the chain is solved for at most 12; use"):
        stationary(System(Problem(np.eye(14), np.ones(14)), np.full(14, 0.01)), DRF())
    pairs = LowerSet.box([2] * 14)
    wide = truncation_error(np.full(14, 0.1), lambda x: (x > 0) * 1.0, pairs, np.full(2**14, 2.0**-14))
    assert np.isinf(wide).all()


def test_limits_and_idle_classes_and_clusters():
    limited = System(Problem(np.ones((6, 1)), [10], limits=[1, 1, 1, 1, 1, np.inf]), [0.3] * 5 + [0])
    law = stationary(limited, DRF(), tail=1e-5)
    # Never short of resources, but for unlikely states: Poisson counts.
    assert law.shape[5] == 1
    assert law.mean_jobs == pytest.approx([0.3] * 5 + [0], rel=1e-3)
    cluster = Cluster(np.ones((5, 1)), [[1.0], [1.0]])
    system = System.with_load(cluster, np.ones(5), 0.4)
    law = stationary(system, PSDSF(), tail=1e-2)
    assert law.tail_mass <= 1e-2
    # Two servers that any job may fill alone: processor sharing at rate 2.
    assert law.mean_jobs == pytest.approx(np.full(5, 0.4 / 0.6 / 5), rel=0.1)


@pytest.mark.long
def test_known_states_are_not_asked_for_again():
    system, asked = shared(5, load=0.4), []

    def counted(problem, counts):
        # The last state of every batch is asked for once more, alone.
        asked.append(len(counts) if np.ndim(counts) > 1 and len(counts) > 1 else 0)
        return sharing(problem, counts)

    law = stationary(system, counted, tail=1e-5)
    once = sum(asked)
    table = tabulate(system.problem, counted, 4)
    asked.clear()
    again = stationary(system, counted, tail=1e-5, table=table)
    assert again.mean_jobs == pytest.approx(law.mean_jobs, rel=1e-12)
    known = int((law.states < 4).all(axis=1).sum())
    assert once >= law.n_states
    assert once - sum(asked) == known


def test_bad_policies_are_refused():
    system = shared(5, load=0.3)

    def lazy(problem, counts):
        return np.where(
            (counts == [0, 1, 0, 0, 0]).all(axis=-1, keepdims=True), 0.0, sharing(problem, counts)
        )

    with pytest.raises(ModelError, match=r"lazy serves nobody in state \(0, 1, 0, 0, 0\)"):
        stationary(system, lazy, tail=1e-3)

    def generous(problem, counts):
        return np.full(np.shape(counts), 0.1)

    with pytest.raises(ModelError, match="where no job is present"):
        stationary(system, generous, tail=1e-3)


def test_too_many_classes_are_refused_at_once():
    system = System.with_load(Problem(np.eye(12) + 0.1, np.ones(12)), np.ones(12), 0.7)
    with pytest.raises(
        NotConvergedError, match=r"12 classes on about .* states, about .* years of work"
    ) as caught:
        stationary(system, DRF())
    assert "raise tail, simulate, or take balanced_fairness, or raise max_states" in str(caught.value)
    assert caught.value.best is None


@pytest.mark.long
def test_a_set_that_would_be_refused_in_the_end_is_refused_before_any_is_solved(monkeypatch):
    def nothing(*_):
        raise AssertionError("solved")

    system = System.with_load(Problem(np.eye(6) + 0.2, np.ones(6)), np.ones(6), 0.2)
    reached = stationary(system, DRF(), tail=1e-3).n_states
    monkeypatch.setattr(CountSets, "attempt", nothing)
    # What the bound asks for is near what is reached.
    with pytest.raises(NotConvergedError, match=r"a set that leaves at most 0\.001 outside, 6 classes on"):
        stationary(system, DRF(), tail=1e-3, max_states=reached // 4)
    with pytest.raises(AssertionError, match="solved"):
        stationary(system, DRF(), tail=1e-3, max_states=reached)


@pytest.mark.long
def test_an_unstable_policy_is_said_to_be_so():
    # Unstable, though no resource is overloaded: class 0 runs when all links are free, 0.7^4 of the time.
    line = System(linear_network(4), np.full(5, 0.3))
    with pytest.raises(UnstableError, match="short_first is unstable at these loads, in the fluid limit"):
        stationary(line, short_first)
    boxes = CountBoxes(line, short_first, check_solver(None), None)
    with pytest.raises(NotConvergedError, match="short_first is probably unstable") as caught:
        CountSets(line, short_first, check_solver(None), boxes.table).grown(1e-2, 30_000)
    assert caught.value.best.tail_mass > 1e-2


def test_faces_hold_what_the_bound_says():
    """Under store-and-forward the probability beyond each face is at most the tail, up to its estimate."""
    system = drawn(4, 5, 2, 0.6)
    bound = Bound.of(system, list(range(5)))
    faces = Faces.of(bound, 1e-2)
    rng = np.random.default_rng(0)
    draws = np.zeros((200_000, 5))
    for j in range(bound.gain.shape[1]):
        total = rng.geometric(bound.free[j], len(draws)) - 1
        p = bound.gain[:, j] / (1 - bound.free[j])
        draws += rng.multinomial(total, p / p.sum())
    beyond = (draws @ faces.weights.T > 1).mean(axis=0)
    # A hundred times the standard error would be 2e-2; the bound itself is never sharp.
    assert (beyond <= 1e-2).all()
    assert beyond.max() > 1e-4


def test_results_on_sets(tmp_path):
    law = stationary(shared(5, load=0.3), sharing, tail=1e-3)
    assert law.n_states == len(law.distribution) == len(law.states)
    assert f"{law.n_states} states within {' x '.join(map(str, law.shape))} ({law.method})" in law.summary()
    data = law.to_dataset()
    assert data["distribution"].dims == ("state",)
    assert data["counts"].dims == ("state", "job_class")
    assert float(data["distribution"].sum()) == pytest.approx(1)
    law.save(tmp_path / "law.json.gz")
    again = type(law).load(tmp_path / "law.json.gz")
    assert np.array_equal(again.distribution, law.distribution)
    assert np.array_equal(again.states, law.states)
    assert np.array_equal(pickle.loads(pickle.dumps(law)).states, law.states)
    bare = stationary(shared(5, load=0.3), sharing, tail=1e-3, distribution=False)
    assert bare.distribution is None
    assert bare.states is None
    assert bare.summary() == law.summary()
    assert np.array_equal(bare.to_dataset()["mean_jobs"], data["mean_jobs"])


def test_a_box_of_five_classes_is_a_box():
    system = shared(5, load=0.3)
    law = stationary(system, sharing, shape=5)
    assert law.shape == law.distribution.shape == (5,) * 5
    some = stationary(system, sharing, tail=1e-4)
    gap = np.abs(law.mean_jobs - some.mean_jobs)
    assert (gap <= law.mean_jobs_error + some.mean_jobs_error).all()


def test_listing_is_avoided_where_guessing_does(monkeypatch):
    monkeypatch.setattr(count_sets, "LISTED", 1000)
    sets = CountSets(shared(5), sharing, Automatic())
    faces = sets.first(1e-4)
    assert sets.states(faces) == faces.guessed_states
    assert sets.states(faces) == pytest.approx(faces.states.n_states, rel=0.1)


@pytest.mark.long
def test_a_set_where_the_box_is_too_large():
    system = drawn(1, 4, 2, 0.5)
    law = stationary(system, DRF(), tail=1e-5, max_states=8_000)
    assert law.method == "lower set (multilevel)"
    box = stationary(system, DRF(), tail=1e-5)
    assert law.n_states <= 8_000 < box.n_states == math.prod(box.shape)
    assert (np.abs(law.mean_jobs - box.mean_jobs) <= law.mean_jobs_error + box.mean_jobs_error).all()
    # Nobody tries again what is unstable.
    line = System(linear_network(3), np.full(4, 0.3))
    with pytest.raises(NotConvergedError, match=r"a box of .* short_first is probably unstable"):
        stationary(line, short_first, tail=1e-2, max_states=60_000)


@pytest.mark.long
def test_cycles_are_told_and_stopped(monkeypatch):
    monkeypatch.setattr(set_chain, "CYCLES", 1)  # so that each is told, however fast
    system, told = shared(5, load=0.5), []
    with watching(told.append):
        stationary(system, sharing, tail=1e-5, solver=Multilevel())
    cycles = [step for step in told if step.unit == "cycles"]
    assert cycles
    assert all(step.what.startswith("the chain of 5 classes on ") for step in cycles)
    with pytest.raises(OutOfTime), watching(time_limit=0):
        stationary(system, sharing, tail=1e-5)


def test_strips_along_faces_by_their_definition():
    rng = np.random.default_rng(5)
    faces = Faces(np.array([[1 / 20, 1 / 9, 1 / 12], [0, 1 / 7, 0], [1 / 15, 0, 1 / 11]]))
    law = rng.random(faces.states.n_states) ** 3
    for row, width, (beyond, factor) in zip(faces.weights, faces.widths, faces.decays(law), strict=True):
        distance = (1 - faces.states.counts() @ row) / width + 1e-9
        last, before, earlier = (law[(distance >= j) & (distance < j + 1)].sum() for j in range(3))
        assert factor == pytest.approx(max(last / before, before / earlier))
        expected = before * factor**2 / (1 - factor) if factor < 1 else math.inf
        assert beyond == pytest.approx(expected)


def test_no_room_for_a_margin():
    sets = CountSets(shared(5, load=0.5), sharing, Automatic())
    faces = sets.first(1e-4)
    tails = sets.attempt(faces).tails
    wide = sets.larger(faces, tails, 1e-4).states.n_states
    sets._most = wide - 1
    tight = sets.larger(faces, tails, 1e-4).states.n_states
    assert faces.states.n_states < tight < wide
