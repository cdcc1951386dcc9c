"""Claims that hypotheses imply a conclusion, for all real numbers and for families over sets of every size.

Each class says which theorem its evidence rests on, with the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proofs.errors import ProofError
from proofs.language.relations import Relation, relation, variables_of
from proofs.language.rules import is_rule, written_out
from proofs.language.sums import as_one_equation, instances, plain_relation

__all__ = ["NEGATION", "Deduction", "Implication", "OverSets", "SumSchema", "as_texts", "refuse_rules"]

NEGATION = "not the conclusion"
"""Name under which the conclusion is contradicted; no hypothesis has it."""


def as_texts(hypotheses: Mapping[str, str], conclusion: str) -> dict[str, str]:
    """A copy of the hypotheses, in which equations with "or" between them are one.

    Raises
    ------
    ProofError
        If something is no text, or a hypothesis is called as the negated conclusion is.
    """
    held = dict(hypotheses)
    for name, text in {**held, "the conclusion": conclusion}.items():
        if type(name) is not str or type(text) is not str:
            raise ProofError(f'{name!r} is given as a text, as in "x*a <= 1"; got {text!r}')
    if NEGATION in held:
        raise ProofError(f"no hypothesis may be called {NEGATION!r}")
    return {name: text if is_rule(text) else as_one_equation(text) for name, text in held.items()}


def refuse_rules(what: str, hypotheses: Mapping[str, str]) -> None:
    """ProofError if one of the hypotheses is a rule, for which only a chain has a use."""
    if rules := [text for text in hypotheses.values() if is_rule(text)]:
        raise ProofError(f"{what} has no rules; got {rules[0]!r}")


@dataclass(frozen=True)
class Deduction:
    """Relations by name, and one that is to follow from them, as texts."""

    hypotheses: Mapping[str, str]
    conclusion: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypotheses", as_texts(self.hypotheses, self.conclusion))
        object.__setattr__(self, "conclusion", as_one_equation(self.conclusion))

    @property
    def assumed(self) -> dict[str, str]:
        """All that is assumed, by name."""
        return dict(self.hypotheses)


@dataclass(frozen=True)
class Implication(Deduction):
    """Hypotheses imply a conclusion, for all real values of the variables.

    From a contradiction anything follows, so values that meet all hypotheses belong to the evidence. A case
    that is meant not to occur has the conclusion ``0 == 1``.

    Parameters
    ----------
    hypotheses : dict of str to str
        Relations by name, as texts, such as ``"x/a <= 1"`` and ``"0 < a <= 1"``; see
        :mod:`proofs.claims.splitting`.
    conclusion : str
    hints : tuple of (tuple of str, str)
        Products of hypotheses ("not the conclusion" is one) times the square of a polynomial, which the
        prover may use beside those that it makes itself; skipped where a hypothesis was dropped. Hints cannot
        make anything false provable.
    degree : int
        Largest number of hypotheses that the prover multiplies before it looks for sums of squares.
    case : (int, int), optional
        Number of the case, and of all cases, of an implication that was split into cases; single ones of them
        may contradict the hypotheses.

    Raises
    ------
    ProofError
        If a hypothesis or the conclusion is not given as a text.
    """

    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)
    case: tuple[int, int] | None = None

    @property
    def relations(self) -> dict[str, Relation]:
        """The hypotheses, read."""
        return {name: relation(text) for name, text in self.hypotheses.items()}

    @property
    def variables(self) -> list[str]:
        """Variables of the hypotheses and of the conclusion, in order."""
        return variables_of((*self.relations.values(), relation(self.conclusion)))


class OverSets(Deduction):
    """A claim whose texts may hold families over sets of every size, and sums over them."""

    @property
    def plain(self) -> Implication:
        """Hypotheses and conclusion in plain variables, without rules."""
        told = {name: text for name, text in self.hypotheses.items() if not is_rule(text)}
        held = {name: repr(plain_relation(self.read(text))) for name, text in told.items()}
        return Implication(held, repr(plain_relation(self.read(self.conclusion))))

    def read(self, text: str) -> str:
        """A text of the claim as one of families."""
        return text

    def instance(self, size: int) -> Implication:
        """The claim where all sets have so many elements, for their first ones if the conclusion is open."""
        held: dict[str, str] = {}
        for number, (name, text) in enumerate(self.hypotheses.items(), 1):
            if is_rule(text):
                told = written_out(text, size, f"multiplier_{number}")
                parts = [(f"{name}[{k}]", written) for k, written in told]
            else:
                parts = [
                    (f"{name}[{','.join(map(str, choice))}]" if choice else name, written)
                    for choice, written in instances(text, size)
                ]
            for one, written in parts:
                if one in held:
                    raise ProofError(f"two hypotheses are called {one!r} where the sets have {size} elements")
                held[one] = written
        return Implication(held, next(instances(self.conclusion, size))[1])


@dataclass(frozen=True)
class SumSchema(OverSets):
    """Hypotheses imply a conclusion for families of real numbers over finite sets of every size.

    Texts may hold families ``x[i]`` and sums ``sum[i](x[i]*a[i])`` (see :mod:`proofs.language.sums`). A
    hypothesis with a free index, such as ``x[i] >= 0``, is meant for each element; the conclusion has none.
    Of a set nothing is known but that it is finite: where one member matters, it has its own variables and
    the family is that of the others, as in ``x*a + sum[i](x[i]*a[i]) == 1``.

    The evidence is a certificate that is uniform in the index. Theorem: let some products of hypotheses and
    squares, and of equations and cofactors, be summed over their free indices; if the closed hypotheses and
    these sums imply the conclusion where every sum of a monomial is a variable of its own, then the claim
    holds for all sets. Proof: given any sets and members that meet the hypotheses, each summand is >= 0 (or
    0), so the sums of them are; sums are linear, so the identity that refutes the negated conclusion in the
    plain variables is an identity of the members' values.

    Parameters
    ----------
    hypotheses, conclusion, hints, degree
        As of :class:`Implication`; a hint of families is summed, one of an equation has its cofactor where
        others have a square.

    Raises
    ------
    ProofError
        If a text cannot be read, or the conclusion has a free index.

    Examples
    --------
    >>> SumSchema({"most": "h[i] <= s", "full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1").instance(2)
    Implication(hypotheses={'most[1]': 'h_i1 <= s', 'most[2]': 'h_i2 <= s', 'full': 'h_i1 + h_i2 == 1'}, \
conclusion='(1 + 1) * s >= 1', hints=(), degree=2, case=None)
    """

    hints: tuple[tuple[tuple[str, ...], str], ...] = field(default=(), compare=False)
    degree: int = field(default=2, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_rules("a schema", self.hypotheses)
        if len(list(instances(self.conclusion, 2))) > 1:
            raise ProofError(
                f"the conclusion of a schema is closed, give the one element its own variables; "
                f"{self.conclusion!r} has a free index"
            )
