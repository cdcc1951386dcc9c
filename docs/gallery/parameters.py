"""For which parameters a claim holds.

For which arrival rates r and s of two classes DRF is stable, among those that fit at all: the exact set,
with a proof by two solvers.
"""

from fairness import DRF
from proofs.symbolic import SymbolicSystem, stable, where

system = SymbolicSystem([[10, 1], [1, 10]], [15, 15], ["r", "s"], assume=["r > 0", "s > 0"])
axes = where(stable(system, DRF())).plot()
