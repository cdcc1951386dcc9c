"""Statements of one's own, and functions of plain fractions that their claims name."""

from proofs import Statement, Step
from proofs.definitions import define, fraction


def own(*claims, name="own", hypotheses=None, **options):
    """A statement whose claims are all meant as the statement itself."""
    steps = [Step(f"step {k}", claim, states=True) for k, claim in enumerate(claims)]
    given = {"words": "P = NP", "scope": "all", "steps": lambda question: steps} | options
    return Statement(id=name, source="s", place="p", latex="l", hypotheses=hypotheses or {}, **given)


@define
def cubes(largest):
    for k in range(largest):
        yield {"k": k}, k**3 >= k


@define
def random_squares(rng, largest):
    k = rng.randint(-largest, largest)
    return {"k": k}, k**2 >= k


@define
def half_of(number):
    return fraction(number) / 2


@define
def two_is_odd(number):
    return {"number": number, "rest": number % 2, "holds": number % 2 == 1}
