"""What chains claim of their errors, against closed forms and elimination in extended precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.claims import enclosed
from benchmarks.claims.chains import measure
from fairness import DRF, Problem
from fairness.errors import NotConvergedError
from queueing.chain import box_chain
from queueing.chain.admission import admission
from queueing.chain.solvers.choose_solver import Automatic, Elimination, Multilevel, Product
from queueing.chain.solvers.multilevel import Convergence
from queueing.chain.stationary import stationary
from queueing.model.system import System
from queueing.states.box import marginal_laws, mean_counts
from tests.own_policies import priority
from tests.queueing.chain.chains import EXAMPLE, one_resource, processor_sharing_law


def product_form(system, shape):
    """Means of processor sharing, which one resource under max-min fairness is, on a box."""
    return mean_counts(marginal_laws(processor_sharing_law(system.loads, shape)))


@pytest.mark.parametrize(
    ("sizes", "load"), [((500, 0.002, 0.003), 0.3), ((500, 0.002, 0.003), 0.6), ((1000, 0.001, 0.001), 0.6)]
)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-11])
def test_nearly_decomposable_chains_claim_no_more_than_they_know(sizes, load, tolerance):
    # Two fast classes and one slow: sweeps along axes do not see an error constant over the fast pair.
    system = System.with_load(one_resource(3), [1, 1, 1], load, sizes)
    for shape in ((8, 8, 8), (30, 20, 20)):
        law = stationary(system, DRF(), shape=shape, solver=Multilevel(tolerance))
        true = np.max(np.abs(law.mean_jobs / product_form(system, shape) - 1))
        # The reference itself is rounded: logarithms of about 30 before the exponential.
        assert true <= 3 * law.mean_error + 1e-13
        assert law.mean_error <= tolerance


def test_small_boxes_are_solved_at_once_at_any_scale():
    system = System.with_load(one_resource(3), [1, 1, 1], 0.6, [500, 0.002, 0.003])
    law = stationary(system, DRF(), shape=8)
    assert law.method == "elimination"
    assert law.mean_jobs == pytest.approx(product_form(system, (8, 8, 8)), rel=1e-13)


@pytest.mark.long
def test_an_infinite_chain_of_slow_and_fast_classes_covers_its_error():
    for sizes, load in (((500, 0.002, 0.003), 0.3), ((500, 0.002, 0.003), 0.6), ((1000, 0.001, 0.001), 0.6)):
        system = System.with_load(one_resource(3), [1, 1, 1], load, sizes)
        for tolerance in (1e-4, 1e-8):
            law = stationary(system, DRF(), solver=Automatic(tolerance))
            assert np.all(np.abs(law.mean_jobs - system.loads / (1 - load)) <= 3 * law.mean_jobs_error)


@pytest.mark.long
def test_random_chains_keep_what_they_claim():
    # The measure of docs/theory/claimed_errors.md on its first systems; all seeds are fixed.
    claims = [claim for number in range(20) for claim in measure("box", number, seed=1)]
    assert max(claim.understatement for claim in claims) <= 3
    assert {claim.kind for claim in claims} == {"box"}


@pytest.mark.long
def test_a_box_far_longer_than_its_law():
    # Beyond some 140 jobs of the fast class the law underflows; rates into what is left would drain the rest.
    system = System.with_load(Problem([[1, 0.2], [0.5, 1]], [1, 1]), [1, 1], 0.05, [400, 0.84])
    law = stationary(system, DRF(), shape=(92, 321), solver=Multilevel())
    direct = stationary(system, DRF(), shape=(92, 321), solver=Elimination())
    assert law.mean_jobs == pytest.approx(direct.mean_jobs, rel=law.mean_error + direct.mean_error)


@pytest.mark.parametrize("solver", [Automatic(1e-9), Multilevel(1e-9)])
def test_a_rare_class_with_priority(solver):
    # Where drifts lead far, overcorrected cycles diverge, and from a bad guess they end in no law at all.
    system = System.with_load(one_resource(2), [0.3, 0.7], 0.9, mean_sizes=[1, 0.02])
    law = stationary(system, priority, shape=(90, 300), solver=solver)
    exact = stationary(system, priority, shape=(90, 300), solver=Elimination())
    error = np.max(np.abs(law.mean_jobs / exact.mean_jobs - 1))
    assert error <= 3 * law.mean_error + exact.mean_error


def test_what_multilevel_leaves_elimination_takes_over(monkeypatch):
    def gives_up(up, down, start, **rest):
        return start / start.sum(), Convergence(3, 1.0, np.inf, False)

    system = System.with_load(EXAMPLE, [1, 1], 0.7)
    monkeypatch.setattr(box_chain, "nested_multilevel", gives_up)
    law = stationary(system, DRF(), shape=(60, 70))
    assert law.method == "elimination"
    assert law.residual < 1e-13
    with pytest.raises(NotConvergedError, match=r"or solver=Elimination\(\)"):
        stationary(system, DRF(), shape=(60, 70), solver=Multilevel())


def test_no_class_and_no_room():
    pool = Problem([[1], [1]], [1])
    empty = System(pool, [0, 0])
    for solver in (None, Product(), Elimination(), Multilevel()):
        assert stationary(empty, DRF(), solver=solver).mean_jobs.tolist() == [0, 0]
        refusing = admission(System(pool, [0.1, 0.1]), DRF(), max_jobs=0, solver=solver)
        assert refusing.mean_jobs.tolist() == [0, 0]
        assert admission(empty, DRF(), max_total=3, solver=solver).mean_jobs.tolist() == [0, 0]


def test_limits_are_read_by_their_labels():
    pool = Problem([[1], [1]], [1], job_classes=["A", "B"])
    law = admission(System(pool, [0.1, 0.1]), DRF(), max_jobs=pd.Series({"B": 2, "A": 5}))
    assert [len(p) for p in law.marginals] == [6, 3]


@pytest.mark.long
def test_estimates_against_proved_bounds():
    # The measure of docs/theory/claimed_errors.md on its first systems; all seeds are fixed.
    found = [one for number in range(2) for one in enclosed.measure(number, seed=20261122).claims]
    means = [one for one in found if one.what == "mean_jobs_error"]
    outside = [one for one in found if one.what == "tail_mass"]
    assert len(means) == len(outside) == 2
    assert {one.verdict for one in means} == {"covered"}
    # An estimate on either side, within a few per cent where the marginal laws decay geometrically.
    assert all(0.5 < one.ratio < 1.5 for one in outside)
    table = enclosed.report(found)
    assert "| `mean_jobs_error` | all | 2 | 2 | 0 | 0 |" in table


def test_verdicts_of_comparisons():
    def verdict(claimed, least, most):
        return enclosed.Comparison("x", "DRF", claimed, least, most, "").verdict

    assert verdict(1.0, 0.5, 1.0) == "covered"
    assert verdict(1.0, 1.1, 1.2) == "short"
    assert verdict(1.0, 0.9, 1.1) == "open"
