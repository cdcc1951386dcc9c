"""Rigorous bounds of the stationary means of a finite chain, as a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.certificates.chain_certificate import ChainCertificate
from queueing.certificates.checking import Bounds
from queueing.proved_bounds.check import check_certificate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ChainEnclosure"]


@dataclass(frozen=True, eq=False, repr=False)
class ChainEnclosure(Result):
    """Bounds of stationary means of a finite chain, with the certificate that proves them.

    Made by :func:`queueing.enclosures.finite_chains.enclose_chain`.

    Attributes
    ----------
    certificate : ChainCertificate
        The chain, the states of its closed class, and the functions that prove the bounds.
    method : str
        How these functions were found: "elimination", "sparse factors" or "iteration".
    width : float
        What was asked for.
    reached : float
        Largest width of the bounds, relative to the mean; to the largest absolute value of the function where
        0 lies between them.
    shortfall : str
        Why the width that was asked for is not reached; empty if it is.
    """

    certificate: ChainCertificate
    method: str
    width: float
    reached: float
    shortfall: str = field(default="")

    @property
    def names(self) -> tuple[str, ...]:
        """What the means are of: rewards, variables and labels of the chain."""
        return self.certificate.names

    @property
    def lower(self) -> FloatArray:
        """Lower bounds of the means, in the order of the names; of labels, of probabilities."""
        return self.certificate.lower

    @property
    def upper(self) -> FloatArray:
        """Upper bounds."""
        return self.certificate.upper

    def bounds(self, name: str) -> tuple[float, float]:
        """Lower and upper bound of the mean of that name.

        Raises
        ------
        ModelError
            If it was not asked for.
        """
        if name not in self.names:
            raise ModelError.of("name", f"must be of {', '.join(map(repr, self.names))}; got {name!r}")
        k = self.names.index(name)
        return float(self.lower[k]), float(self.upper[k])

    def check(self) -> Bounds:
        """Run the independent checker once more; what it proves of the means.

        Raises
        ------
        CertificateError
            If it does not prove the bounds.
        """
        return check_certificate(self.certificate)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per mean: the bounds, and how far they are apart."""
        return self.certificate.to_dataframe()

    def summary(self) -> str:
        """The bounds, and what they rest on."""
        c = self.certificate
        size = max(map(len, self.names), default=0)
        rows = zip(self.names, self.lower.tolist(), self.upper.tolist(), strict=True)
        transient = c.chain.n_states - len(c.states)
        return "\n".join(
            [
                "proved bounds of stationary means of a finite chain",
                *(f"  {name.ljust(size)}  {low!r} to {high!r}" for name, low, high in rows),
                f"  {c.chain.n_states} states"
                + (f", {transient} of them transient" if transient else "")
                + f", {c.chain.n_transitions} transitions; found by {self.method}, proved by the certificate",
                f"  widths up to {self.reached:.1e}; {self.width:.1e} asked"
                + (f": {self.shortfall}" if self.shortfall else ""),
            ]
        )

    @property
    def _tabulated(self) -> int:
        return len(self.names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Middle of the bounds of each mean, with the bounds as error bars."""
        return self.certificate.plot(ax)
