"""The result of a drift bound: bounds of weighted sums of mean counts, each with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairness.display.drawing import bound_bars
from fairness.display.result import Result
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.certificates.drift_certificate import DriftCertificate
from queueing.certificates.errors import CertificateError
from queueing.certificates.moments.families import names_of
from queueing.model.system import System

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DriftBound"]


@dataclass(frozen=True, eq=False, repr=False)
class DriftBound(Result):
    """Proved bounds of mean counts in the infinite chain; made by :func:`drift_bound`.

    Attributes
    ----------
    system : System
    policy : str
        Its name, or "any policy".
    names : tuple of str
        What is bounded.
    weights : ndarray of shape (n_bounds, n_classes)
        Weights of the classes' mean counts in each.
    lower, upper : ndarray of shape (n_bounds,)
        Bounds; ``upper`` is infinite where none was found.
    lower_proofs : tuple of DriftCertificate
    upper_proofs : tuple of DriftCertificate or None
    """

    system: System
    policy: str
    names: tuple[str, ...]
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray
    lower_proofs: tuple[DriftCertificate, ...]
    upper_proofs: tuple[DriftCertificate | None, ...]

    def check(self) -> None:
        """Check all proofs again, in fractions; CertificateError if one does not hold."""
        for k in range(len(self.names)):
            pairs = [(self.lower_proofs[k], self.lower[k]), (self.upper_proofs[k], self.upper[k])]
            for proof, claimed in pairs:
                if proof is None:
                    holds = claimed == np.inf
                else:
                    proved, same = proof.check(), proof.system is self.system
                    same = same and [float(w) for w in proof.weights] == self.weights[k].tolist()
                    holds = same and (above(proved) <= claimed if proof.upper else below(proved) >= claimed)
                    holds = holds and proof.upper == (proof is self.upper_proofs[k])
                    holds = holds and self.policy in names_of(proof.policy, proof.parameters, self.policy)
                if not holds:
                    raise CertificateError(
                        "claim", f"{self.names[k]}: {claimed} is not what its proof proves"
                    )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per bound: lower, upper."""
        import pandas as pd

        index = pd.Index(self.names, name="mean of")
        return pd.DataFrame({"lower": self.lower, "upper": self.upper}, index=index)

    def summary(self) -> str:
        """The bounds and what they rest on."""
        width = max(map(len, self.names)) + 2
        lines = [
            f"  {name.ljust(width)}{low:.6g} to {high:.6g}"
            for name, low, high in zip(self.names, self.lower, self.upper, strict=True)
        ]
        n = self.system.n_classes
        head = f"drift bounds under {self.policy}, {n} {'class' if n == 1 else 'classes'}"
        return "\n".join([head, *lines, f"  {self._evidence()}"])

    def _evidence(self) -> str:
        proofs = [proof for proof in (*self.lower_proofs, *self.upper_proofs) if proof is not None]
        what = "function" if len(proofs) == 1 else "functions"
        text = f"proved: {len(proofs)} quadratic {what} of the counts, checked in fractions"
        if np.isinf(self.upper).any():
            text += "; no function was found that bounds what has no upper bound"
        return text

    @property
    def _tabulated(self) -> int:
        return len(self.names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """From the lower to the upper bound of each; hatched where there is no upper one."""
        finite = np.isfinite(self.upper)
        middle = np.where(finite, (self.lower + np.where(finite, self.upper, 0.0)) / 2, self.lower)
        error = np.where(finite, middle - self.lower, np.inf)
        title = f"bounds under {self.policy}"
        return bound_bars(ax, self.names, middle, error, quantity="mean jobs", title=title)
