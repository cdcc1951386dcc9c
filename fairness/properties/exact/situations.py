"""What a mechanism gives, between bounds in fractions, and violations of statements about it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairness.model.tree import Tree
from fairness.properties.exact.rational import RationalModel, Row, Rows
from fairness.properties.exact.servers import totals

__all__ = ["NONE", "Claim", "Situation", "less", "shown", "worst"]


@dataclass(frozen=True, eq=False)
class Situation:
    """A model with bounds on the tasks (n_classes, n_servers) that a mechanism gives.

    ``lower`` and ``upper`` are nested lists, ``job_classes`` and ``servers`` names; ``tree`` is that of the
    mechanism, if it has one.
    """

    model: RationalModel
    lower: Rows
    upper: Rows
    job_classes: tuple[str, ...]
    servers: tuple[str, ...]
    tree: Tree | None = None

    @property
    def least(self) -> Row:
        """Lower bounds on the tasks of each class."""
        return totals(self.lower)

    @property
    def most(self) -> Row:
        """Upper bounds on the tasks of each class."""
        return totals(self.upper)

    @property
    def alone(self) -> Row:
        """Tasks of each class with all servers to itself."""
        return totals(self.model.gamma)

    def tasks(self, n: int) -> str:
        """Tasks of a class in words."""
        low, high = self.least[n], self.most[n]
        if low == high:
            return shown(low)
        ends = dict.fromkeys((shown(low), shown(high)))
        return "about " + " to ".join(ends)


@dataclass(frozen=True)
class Claim:
    """A violation that is certain if positive, and why, in numbers that can be checked by hand."""

    violation: Fraction
    text: str


NONE = Claim(Fraction(0), "no violation is certain")


def shown(value: Fraction) -> str:
    """A short fraction as such, a long one as a decimal number."""
    return str(value) if value.denominator < 10**6 else f"{float(value):.10g}"


def less(has: Fraction, should: Fraction, text: str) -> Claim:
    """How much less somebody has than it should, relative to the larger of both."""
    most = max(has, should)
    return Claim((should - has) / most if most > 0 else Fraction(0), text)


def worst(claims: list[Claim]) -> Claim:
    """The claim of the largest violation; none if there is no claim."""
    return max(claims, key=lambda claim: claim.violation, default=NONE)
