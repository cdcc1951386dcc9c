"""Closed forms beside numeric policies: for every choice of the demands, all counts in one call."""

from functools import cache

import numpy as np
import sympy

from proofs.symbolic import ClosedForm, SymbolicProblem, closed_form

POOLS = 20
STATES = 500


@cache
def talk(policy, most="1") -> ClosedForm:
    """A closed form of the 2 x 2 examples of the talk, with demands of the other resource up to ``most``."""
    positive = ["x > 0", "y > 0", "a > 0", "b > 0"]
    assume = positive if most is None else [*positive, f"a < {most}", f"b < {most}"]
    return closed_form(SymbolicProblem([[1, "a"], ["b", 1]], [1, 1], ["x", "y"], assume=assume), policy)


def assert_is_the_policy(form, policy, far, *, pools=POOLS, states=STATES, seed=11, tolerance=1e-12):
    """Equality at pools * states random points, to a relative error of 1e-12; all cells are met.

    ``far``: letters are between 1/20 and this, log-uniform; letters that are counts, between 1/20 and 20. The
    assumptions are the caller's to meet.
    """
    rng, problem = np.random.default_rng(seed), form.problem
    counted = set().union(*(sympy.sympify(x).free_symbols for x in problem.counts))
    values = {}
    for letter in problem.letters:
        low, high = np.log(0.05), np.log(20.0 if letter in counted else far)
        shape = (pools, states) if letter in counted else (pools, 1)
        values[letter] = np.exp(rng.uniform(low, high, shape))
    names = [letter.name for letter in problem.letters]
    tasks = form.lambdify()(*values.values())
    counts = sympy.lambdify(problem.letters, list(problem.counts), "numpy")(*values.values())
    counts = np.stack([np.broadcast_to(c, (pools, states)) for c in counts], axis=-1)
    for k in range(pools):
        point = {name: values[letter][k, 0] for name, letter in zip(names, problem.letters, strict=True)}
        pool, _ = problem.at(point)
        np.testing.assert_allclose(
            np.broadcast_to(tasks[k], counts[k].shape), policy(pool, counts[k]), rtol=tolerance
        )
    assert set(np.unique(form.located()(*values.values()))) == set(range(len(form.cells)))
