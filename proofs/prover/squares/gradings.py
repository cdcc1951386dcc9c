r"""Which products can cancel each other: units of measure, degrees, parities, all at once.

A substitution :math:`x_j \to \sigma_j s^{w_j} x_j` with :math:`s > 0` and signs :math:`\sigma_j` that leaves
every premise as it is, up to a factor, leaves the problem as it is. Then an identity may be averaged over all
such substitutions [1]_: only terms of the grade of its positive term remain, those that are as homogeneous as
that term, of the same units, and odd or even in the same letters. Products of another grade are not needed,
and only monomials of one grade stand in one matrix.

References
----------
.. [1] J. Löfberg, "Pre- and post-processing sum-of-squares programs in practice", IEEE Transactions on
   Automatic Control 54(5), 2009, section III (sign symmetries; here scalings besides).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from proofs.prover.squares.tables import Exponents, Table

__all__ = ["Grading"]


class Grading:
    """Grades of the monomials in n variables, for which each of some polynomials has a single grade."""

    def __init__(self, polynomials: Iterable[Table], n: int) -> None:
        differences: set[Exponents] = set()
        for p in polynomials:
            first, *others = p
            differences |= {tuple(b - a for a, b in zip(first, other, strict=True)) for other in others}
        rows = sorted(differences)
        self.scalings = _orthogonal(rows, n, 0)
        self.signs = _orthogonal(rows, n, 2)

    def grade(self, exponents: Exponents) -> Exponents:
        """The grade of a monomial."""
        return tuple(self.grades(np.array([exponents], dtype=np.int64))[0].tolist())

    def grades(self, exponents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Grades of many, as rows."""
        return np.hstack([exponents @ self.scalings.T, exponents @ self.signs.T % 2])


def _orthogonal(rows: Sequence[Exponents], n: int, modulus: int) -> NDArray[np.int64]:
    """Whole vectors, as rows, that span what is orthogonal to some rows: over the rationals, or modulo 2."""
    from sympy import GF, QQ
    from sympy.polys.matrices import DomainMatrix

    field = GF(modulus) if modulus else QQ
    matrix = DomainMatrix([[field(v) for v in row] for row in rows], (len(rows), n), field)
    kernel = matrix.nullspace(divide_last=True)
    if not modulus:
        kernel = kernel.clear_denoms_rowwise(convert=True)[1]
    return np.array([[int(v) for v in row] for row in kernel.to_list()], dtype=np.int64).reshape(-1, n)
