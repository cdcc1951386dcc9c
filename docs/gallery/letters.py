"""An allocation with letters for the numbers.

Bottleneck-max fairness of two jobs in closed form, one formula for each cell: where the border between two
cells runs depends on the demands and on nothing else.
"""

from fairness import BottleneckMax
from proofs.symbolic import SymbolicProblem, closed_form

pool = SymbolicProblem([[1, 3], ["c", "d"]], [1, 1], assume=["c > 0", "d > 0"], resource_names=["CPU", "RAM"])
axes = closed_form(pool, BottleneckMax()).plot(x="c", y="d")
